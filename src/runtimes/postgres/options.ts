import { ServableError } from '../../errors.ts'

/** What the name of a schema is. */
export const SCHEMA_NAME =
  'a name of a-z, 0-9 and _, of at most 63 characters, which does not begin with `pg_`'

/** Whether a schema may have the name. It stands in statements as it is. */
export function isSchemaName(name: unknown): name is string {
  return typeof name === 'string' && /^(?!pg_)[a-z_][a-z\d_]{0,62}$/.test(name)
}

/** Throws `invalid_options` for what is no address of a database. It may have a password: the error does not repeat it. */
export function checkUrl(name: string, url: unknown): asserts url is string {
  if (typeof url === 'string' && /^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return
  throw wrong(`\`${name}\` must be an address that begins with \`postgres://\`: is a variable missing?`)
}

/** The error for an option. */
export function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `postgresState: ${what}`)
}
