/** Who has a store open: work that another one left behind has lost its worker. */
export interface Presence {
  readonly instance: string
  /** Whether others may have the store open at the same time. */
  readonly isShared: boolean
  isAlive(instance: string): boolean
}

/**
 * The presence of the only one who can have a store open: whoever had it before is gone. Its name is made when it is
 * first asked for, since a Worker may not make random values while it is loaded.
 */
export function alone(): Presence {
  let instance: string | undefined
  const name = () => {
    instance ??= crypto.randomUUID()
    return instance
  }
  return {
    get instance() {
      return name()
    },
    isShared: false,
    isAlive: other => other === name(),
  }
}
