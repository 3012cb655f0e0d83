import { appPage } from '../../src/protocols/mcp/plugin.ts'

/** Shows what each thing of a dinner costs, as bars. It loads nothing. */
export const shoppingPage = appPage({
  uri: 'ui://caterer/list',
  prefersBorder: true,
  html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>What the dinner costs</title>
<style>
  body { margin: 0; padding: 16px; font: 14px/1.5 system-ui, sans-serif }
  h1 { margin: 0 0 8px; font-size: 16px; font-weight: 600 }
  div { display: grid; grid-template-columns: 6em 1fr 4.5em; gap: 12px; align-items: center; padding: 4px 0 }
  i { height: 12px; border-radius: 2px; background: light-dark(#3158d4, #8ca6ff) }
  b { text-align: end; font-weight: 500 }
</style>
<h1>What the dinner costs</h1>
<main></main>
<script>
  const send = message => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
  const element = (name, text) => Object.assign(document.createElement(name), { textContent: text })
  const show = items => {
    const most = Math.max(...items.map(({ cents }) => cents))
    document.querySelector('main').replaceChildren(...items.map(({ name, cents }) => {
      const row = document.createElement('div')
      const bar = document.createElement('i')
      bar.style.width = Math.round(100 * cents / most) + '%'
      row.append(element('span', name), bar, element('b', '€ ' + (cents / 100).toFixed(2)))
      return row
    }))
    const { height } = document.documentElement.getBoundingClientRect()
    send({ method: 'ui/notifications/size-changed', params: { height } })
  }
  addEventListener('message', ({ source, data }) => {
    if (source !== parent) return
    if (data.id === 1) send({ method: 'ui/notifications/initialized' })
    if (data.method === 'ui/notifications/tool-result') show(JSON.parse(data.params.content[0].text))
  })
  const appInfo = { name: 'caterer', version: '1' }
  send({ id: 1, method: 'ui/initialize', params: { protocolVersion: '2026-01-26', appInfo, appCapabilities: {} } })
</script>
</html>
`,
})
