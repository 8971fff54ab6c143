/** Whatever JSON holds. */
export type Json = ReturnType<typeof JSON.parse>;
