import type { VNode } from 'preact'
import { expect, it } from 'vitest'
import { read } from '../../../console/markdown/blocks.ts'
import { drawn } from '../../../console/markdown/elements.ts'

/** The elements as text, to be compared. */
function textOf(child: unknown): string {
  if (Array.isArray(child)) return child.map(textOf).join('')
  if (typeof child !== 'object' || child === null) return String(child ?? '')
  const { type, props } = child as VNode<Record<string, unknown>>
  const { children, ...rest } = props
  const attributes = Object.entries(rest).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  return `<${String(type)}${attributes.join('')}>${textOf(children)}</${String(type)}>`
}

function shown(markdown: string): string {
  const document = read(markdown)
  return textOf([...document.closed, ...document.rest()].map(drawn)).replaceAll(' dir="auto"', '')
}

const LINK = ' rel="noopener noreferrer nofollow" target="_blank"'

it.each([
  ['# one\n###### six', '<h3 class="depth1">one</h3><h3 class="depth6">six</h3>'],
  ['**a** *b* ~~c~~ `d`', '<p><strong>a</strong> <em>b</em> <del>c</del> <code>d</code></p>'],
  ['- [x] a\n- [ ] b', '<ul><li>☑ a</li><li>☐ b</li></ul>'],
  ['3. a\n4. b', '<ol start=3><li>a</li><li>b</li></ol>'],
  ['> q', '<blockquote><p>q</p></blockquote>'],
  ['a  \nb', '<p>a<br></br>b</p>'],
  ['---', '<hr></hr>'],
  ['```html\n<b>&amp;\n```', '<pre><code><b>&amp;</code></pre>'],
  ['|a|\n|-|\n|1|', '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'],
  ['&lt;b&gt; &#x41;&#66; &copy; &unknown; &#0; &#xd800;', '<p><b> AB © &unknown; \ufffd \ufffd</p>'],
  ['snake_case_name \\*', '<p>snake_case_name *</p>'],
  ['a\r\nb\r', '<p>a\nb</p>'],
  ['one', '<p>one</p>'],
])('%j is %s', (markdown, elements) => {
  expect(shown(markdown)).toBe(elements)
})

it.each([
  ['[a](https://x.example/?a&amp;b "t")', 'https://x.example/?a&b', 'a'],
  ['<mailto:ada@x.example>', 'mailto:ada@x.example', 'mailto:ada@x.example'],
  ['http://x.example', 'http://x.example', 'http://x.example'],
  ['![picture](https://x.example/p.png)', 'https://x.example/p.png', 'picture'],
  ['![](https://x.example/p.png)', 'https://x.example/p.png', 'https://x.example/p.png'],
])('%s links', (markdown, href, text) => {
  expect(shown(markdown)).toBe(`<p><a href="${href}"${LINK} title="${href}">${text}</a></p>`)
})

it.each([
  ['[a](javascript:alert(1))', '<p>a</p>'],
  ['[a](JaVaScRiPt&colon;alert(1))', '<p>a</p>'],
  ['[a](java&#x73;cript:alert(1))', '<p>a</p>'],
  ['[a](data:text/html,x)', '<p>a</p>'],
  ['[a](//x.example)', '<p>a</p>'],
  ['[a](/api/runs)', '<p>a</p>'],
  ['![a](data:image/png;base64,AAAA)', '<p>a</p>'],
  ['<b onclick="x">y</b>', '<p><b onclick="x">y</b></p>'],
  ['<script>x</script>', '<p class="plain"><script>x</script></p>'],
  ['`a\u202eb`', '<p><code>a\\u202eb</code></p>'],
])('%j is text', (markdown, elements) => {
  expect(shown(markdown)).toBe(elements)
})
