import { checkOptions, corsSetting } from '../../base/schemas.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import { type CorsSetting, checkCredentials, createCors } from '../../web/cors.ts'

/**
 * Lets pages of other origins call: any origin (`true`), a list of origins, or all options. Without it, requests from such
 * pages that change something get 403 with `cross_site_request`, if the browser marks them as such. Throws `invalid_options`.
 */
export function cors(setting: CorsSetting): Plugin {
  checkOptions('cors', corsSetting(), setting)
  checkCredentials('cors', setting)
  return asPlugin({ name: 'cors', cors: keyHeaders => createCors(setting, keyHeaders) })
}
