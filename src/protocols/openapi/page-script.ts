/**
 * The script of the documentation page. It loads the document, with the reader's credentials if they are requested, and shows it.
 * The credentials stay in the memory of the page. The script is the same for every deployment. The settings are in the page.
 */
export const PAGE_SCRIPT = `(() => {
  const root = document.getElementById('docs')
  const form = document.getElementById('ask')
  const note = document.getElementById('note')
  const { spec, ask } = root.dataset

  const dark = matchMedia('(prefers-color-scheme: dark)')
  const look = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', look)
  look()

  const given = () => {
    const headers = {}
    for (const { value, dataset } of form.querySelectorAll('input')) {
      if (value.trim() !== '') headers[dataset.header] = dataset.prefix + value.trim()
    }
    return headers
  }

  const say = text => {
    note.textContent = text
    note.hidden = false
  }

  const askFor = isRefused => {
    form.hidden = false
    form.querySelector('input').focus()
    if (isRefused) say('This was not accepted.')
  }

  const load = async headers => {
    const { ok, status, text } = await read(headers)
    if (ok) return show(JSON.parse(text), headers)
    const isRefused = status === 401 || status === 403
    if (isRefused && form !== null) return askFor(Object.keys(headers).length > 0)
    const why = status === undefined ? '' : ' (the service answered ' + status + ')'
    say((isRefused ? 'You are not let in' : 'The documentation cannot be read now') + why + '.')
  }

  const read = async given => {
    let headers
    try {
      headers = new Headers(given)
    } catch {
      // The text cannot be sent in a header, so it cannot be a valid credential.
      return { status: 401 }
    }
    try {
      const response = await fetch(spec, { headers })
      return { ok: response.ok, status: response.status, text: await response.text() }
    } catch {
      return {}
    }
  }

  const show = (document_, headers) => {
    form?.remove()
    note.remove()
    document.title = document_.info.title
    const ui = SwaggerUIBundle({
      spec: document_,
      dom_id: '#docs',
      tryItOutEnabled: true,
      persistAuthorization: false,
      deepLinking: true,
      onComplete: () => {
        ui.specActions.updateUrl(spec)
        authorize(ui, document_, headers)
      },
    })
  }

  /** Uses the reader's credentials for runs too, as if they were entered under "Authorize". */
  const authorize = (ui, { security = [], components }, headers) => {
    for (const name of security.flatMap(Object.keys)) {
      const schema = components.securitySchemes[name]
      const isKey = schema.type === 'apiKey'
      const value = headers[isKey ? schema.name.toLowerCase() : 'authorization']?.replace(/^Bearer /, '')
      if (value === undefined || (isKey && schema.in !== 'header')) continue
      ui.authActions.authorize({ [name]: { name, schema, value, token: { access_token: value } } })
    }
  }

  form?.addEventListener('submit', async event => {
    event.preventDefault()
    const button = form.querySelector('button')
    button.disabled = true
    note.hidden = true
    await load(given())
    button.disabled = false
  })
  if (ask === 'first') askFor(false)
  else load({})
})()
`
