/**
 * The address of data. Data with the same address is in one Durable Object, and a transaction cannot reach another address. A
 * network address or a key, which must stay secret, goes into `key`: only its digest names the object.
 */
export type ObjectAddress = string | { readonly name: string; readonly key: string }
