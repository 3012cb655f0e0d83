import { ServableError } from '../../base/errors.ts'

/** The rule for the name of a schema. */
export const SCHEMA_NAME =
  'a name of a-z, 0-9 and _, of at most 63 characters, which does not begin with `pg_`'

/** Whether a schema may have the name. It is put into statements unescaped. */
export function isSchemaName(name: unknown): name is string {
  return typeof name === 'string' && /^(?!pg_)[a-z_][a-z\d_]{0,62}$/.test(name)
}

/** The rule for the address of a database. The address may contain a password, so no error repeats it. */
export const DATABASE_URL = 'an address that begins with `postgres://`: is a variable missing?'

/** Whether it is the address of a database. */
export function isDatabaseUrl(url: unknown): url is string {
  return typeof url === 'string' && /^postgres(ql)?:\/\//.test(url) && URL.canParse(url)
}

/** The error for an option. */
export function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `postgresState: ${what}`)
}
