/** Values that may be found nowhere but where they belong. */

/** A secret of a test's own; `tag` says which one it is where it is found. */
export const secret = (tag: string): string => `sk-canary-${tag}-${crypto.randomUUID()}`

/** Headers that hold a secret each. */
export const secretHeaders = (): Readonly<Record<string, string>> => ({
  'x-provider-a-api-key': secret('a'),
  'x-provider-b-api-key': secret('b'),
  'x-api-key': secret('generic'),
  authorization: `Bearer ${secret('bearer')}`,
  cookie: `session=${secret('cookie')}`,
})
