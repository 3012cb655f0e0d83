/**
 * Makes pages that show results.
 *
 * @module
 */

import * as v from 'valibot'
import {
  type AppPage,
  ASKED,
  LOADED,
  MAX_ORIGINS,
  MAX_PAGE,
  PAGE_URI,
  type PageLook,
} from '../../agents/app-page.ts'
import { checkOptions, flag, isFunction } from '../../base/schemas.ts'

/** The options of `appPage`. */
export interface AppPageOptions extends PageLook {
  readonly uri: string
  /** A whole document of at most 1,048,576 characters, or a function that returns it. Nothing of a result belongs into it. */
  readonly html: string | (() => string | Promise<string>)
}

const originsLike = (form: RegExp) =>
  v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.regex(form, 'must be an origin such as https://api.example.com'))),
      v.maxLength(MAX_ORIGINS, `must have ${MAX_ORIGINS} origins at most`),
    ),
  )

const OptionsSchema = v.strictObject({
  uri: v.pipe(v.string(), v.regex(PAGE_URI, 'must be `ui://` and a name of at most 1,000 characters')),
  html: v.union(
    [v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_PAGE)), v.custom<AppPageOptions['html']>(isFunction)],
    `must be text of 1 to ${MAX_PAGE} characters, or a function that returns it`,
  ),
  csp: v.optional(
    v.strictObject({
      connectDomains: originsLike(ASKED),
      resourceDomains: originsLike(LOADED),
      frameDomains: originsLike(LOADED),
    }),
  ),
  prefersBorder: v.optional(flag),
})

/**
 * Makes the page of an agent or a tool: clients of MCP with the extension Apps show it beside the result, and so does the Chat of the
 * console. The page gets the result by messages, and the text of the result must say the same. Throws `invalid_options`.
 *
 * @example
 * new Agent({ name: 'weather', page: appPage({ uri: 'ui://weather', html: '<!doctype html>…' }), run })
 */
export function appPage(options: AppPageOptions): AppPage {
  checkOptions('appPage', OptionsSchema, options)
  const { uri, html, csp, prefersBorder } = options
  return {
    uri,
    async read() {
      const text = typeof html === 'string' ? html : await html()
      if (typeof text !== 'string' || text.length > MAX_PAGE)
        throw new TypeError(`\`appPage\`: \`html\` of ${uri} must return ${MAX_PAGE} characters at most`)
      return { html: text, csp, prefersBorder }
    },
  }
}
