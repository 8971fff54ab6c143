/** Columns that hold null become absent, as everywhere in the core's types. */
type WithoutNulls<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: Exclude<T[K], null>;
};

export const withoutNulls = <T extends object>(row: T): WithoutNulls<T> =>
  Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== null && value !== undefined),
  ) as WithoutNulls<T>;

/** A value for a JSON column; what is absent is null. */
export function toJson(value: object | string): string;
export function toJson(value: unknown): string | null;
export function toJson(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/** The value of a JSON column. The type is the writer's promise: only the store writes these columns. */
export function fromJson<T>(json: string): T;
export function fromJson<T>(json: string | null): T | null;
export function fromJson<T>(json: string | null): T | null {
  return json === null ? null : (JSON.parse(json) as T);
}
