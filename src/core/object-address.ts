/**
 * A place where data is stored. Data of one place is in one Durable Object, and no transaction reaches another place. An
 * address or a key, which must stay secret, goes into `key`: only its digest names the object.
 */
export type ObjectAddress = string | { readonly name: string; readonly key: string }
