import { asPlugin } from '../core/built-in.ts'
import type { Plugin } from '../core/plugin.ts'
import { checkOptions, corsSetting } from '../schemas.ts'
import { type CorsSetting, checkCredentials, createCors } from '../web/cors.ts'

/**
 * Lets pages of other origins call: any (`true`), those of a list, or in full. Without it, what a browser says that such a page
 * sent, and that changes something, is answered 403 with `cross_site_request`. Throws `invalid_options`.
 */
export function cors(setting: CorsSetting): Plugin {
  checkOptions('cors', corsSetting(), setting)
  checkCredentials('cors', setting)
  return asPlugin({ name: 'cors', cors: keyHeaders => createCors(setting, keyHeaders) })
}
