import { asPlugin, type Plugin } from '../core/plugin.ts'
import { ServableError } from '../errors.ts'
import { checkOptions, corsSetting } from '../schemas.ts'
import { type CorsSetting, createCors } from '../web/cors.ts'

/**
 * Lets pages of other origins call: any (`true`), those of a list, or in full. Without it, what a browser says that such a page
 * sent, and that changes something, is answered 403 with `cross_site_request`. Throws `invalid_options`.
 */
export function cors(setting: CorsSetting): Plugin {
  checkCors('cors', setting)
  return asPlugin({ name: 'cors', cors: keyHeaders => createCors(setting, keyHeaders) })
}

/** Checks a setting. Throws `invalid_options`. */
export function checkCors(name: string, setting: CorsSetting): void {
  checkOptions(name, corsSetting, setting)
  checkCredentials(name, setting)
}

/** Browsers refuse credentials together with any origin (WHATWG Fetch, section 3.2.3), so it can only be a mistake. */
function checkCredentials(name: string, setting: CorsSetting): void {
  if (typeof setting !== 'object' || !('origins' in setting)) return
  if (setting.origins !== '*' || setting.credentials !== true) return
  throw new ServableError(
    'invalid_options',
    `\`${name}.credentials\` needs \`${name}.origins\` to name the origins, not '*'`,
  )
}
