/** Columns that hold null become absent, as everywhere in the core's types. */
type WithoutNulls<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: Exclude<T[K], null>;
};

export const withoutNulls = <T extends object>(row: T): WithoutNulls<T> =>
  Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== null && value !== undefined),
  ) as WithoutNulls<T>;

declare const held: unique symbol;
/**
 * JSON in a text column, with the type of the value that it holds. It also carries what a text column of some
 * database refuses or cuts, such as U+0000.
 */
export type Json<T> = string & { readonly [held]: T };

/** A value for a JSON column; what is absent is null. */
export function toJson<T extends object | string>(value: T): Json<T>;
export function toJson<T extends object | string>(value: T | null | undefined): Json<T> | null;
export function toJson<T>(value: T): Json<T> | null {
  return value === undefined || value === null ? null : (JSON.stringify(value) as Json<T>);
}

/** The value of a JSON column. */
export function fromJson<T>(json: Json<T>): T;
export function fromJson<T>(json: Json<T> | null): T | null;
export function fromJson<T>(json: Json<T> | null): T | null {
  return json === null ? null : (JSON.parse(json) as T);
}
