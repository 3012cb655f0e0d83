/**
 * Renders Markdown as elements. Only the kinds of this table become elements, and HTML is shown as text. So untrusted text cannot
 * run or load anything.
 *
 * @module
 */

import type { Token, Tokens } from 'marked'
import { type ComponentChild, h } from 'preact'
import { visible } from '../text.ts'
import type { Block } from './blocks.ts'
import { decoded } from './entities.ts'

type Kind = Block['type']
type Drawn = { readonly [K in Kind]: (token: Extract<Block, { type: K }>) => ComponentChild }

const ELEMENTS: Drawn = {
  blockquote: ({ tokens }) => h('blockquote', null, all(tokens)),
  br: () => h('br', null),
  checkbox: ({ checked }) => `${checked ? '☑' : '☐'} `,
  code: ({ text }) => h('pre', null, h('code', null, visible(text))),
  codespan: ({ text }) => h('code', null, visible(text)),
  def: () => null,
  del: ({ tokens }) => h('del', null, all(tokens)),
  em: ({ tokens }) => h('em', null, all(tokens)),
  escape: ({ text }) => text,
  // The page's own headings are `h1` and `h2`. All others are on one level, since an agent may begin with any.
  heading: ({ depth, tokens }) => h('h3', { class: `depth${depth}` }, all(tokens)),
  hr: () => h('hr', null),
  html: token => (token.block ? plain(token.raw) : token.raw),
  image: ({ href, text }) => link(href, [decoded(text) || href]),
  link: ({ href, autolink, text, tokens }) => link(href, autolink ? [text] : all(tokens), autolink),
  list: ({ ordered, start, items }) =>
    h(ordered ? 'ol' : 'ul', ordered && start !== 1 ? { start: Number(start) } : null, all(items)),
  list_item: ({ tokens }) => h('li', null, all(tokens)),
  paragraph: ({ tokens }) => h('p', { dir: 'auto' }, all(tokens)),
  plain: ({ raw }) => plain(raw),
  space: () => null,
  strong: ({ tokens }) => h('strong', null, all(tokens)),
  table: ({ header, rows }) =>
    h(
      'table',
      null,
      h('thead', null, row('th', header)),
      h(
        'tbody',
        null,
        rows.map(cells => row('td', cells)),
      ),
    ),
  text: ({ tokens, text, escaped }) => (tokens ? all(tokens) : escaped ? text : decoded(text)),
}

/** The element of a block, or its text. */
export function drawn(token: Token | Block): ComponentChild {
  const draw = Object.hasOwn(ELEMENTS, token.type) ? ELEMENTS[token.type as Kind] : undefined
  return draw ? draw(token as never) : token.raw
}

const all = (tokens: readonly Token[]): ComponentChild[] => tokens.map(drawn)

const plain = (text: string): ComponentChild => h('p', { class: 'plain' }, visible(text))

const row = (name: 'th' | 'td', cells: readonly Tokens.TableCell[]): ComponentChild =>
  h(
    'tr',
    null,
    cells.map(({ tokens, align }) => h(name, align ? { class: align } : null, all(tokens))),
  )

/** A link to another site, which gets no referrer. Only web and mail addresses become links. */
function link(href: string, children: ComponentChild[], isLiteral = false): ComponentChild {
  const address = isLiteral ? href : decoded(href)
  if (!/^(https?:\/\/|mailto:)/i.test(address)) return children
  const props = {
    href: address,
    rel: 'noopener noreferrer nofollow',
    target: '_blank',
    title: visible(address),
  }
  return h('a', props, children)
}
