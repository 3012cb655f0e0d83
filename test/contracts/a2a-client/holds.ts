/** Tasks that are held in the middle: the tests let them go on. They run in the process of the tests. */

const gates = new Map<string, { readonly opened: Promise<void>; open(): void }>()

function gateOf(key: string) {
  const known = gates.get(key)
  if (known !== undefined) return known
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  const gate = { opened, open: () => open() }
  gates.set(key, gate)
  return gate
}

/** Resolves once the task may go on. */
export const held = (key: string): Promise<void> => gateOf(key).opened

/** Lets a task go on. */
export const letGo = (key: string): void => gateOf(key).open()
