/**
 * Where something is kept. Things of one place are together in one Durable Object, and no transaction reaches another place. What
 * must not be told (an address, a key) stands in `key`, whose digest alone names the object.
 */
export type Place = string | { readonly name: string; readonly key: string }
