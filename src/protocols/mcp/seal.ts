/**
 * Handles of runs that wait, as clients carry them back: the `requestState` of MCP. A handle is of one run, one owner and one tool.
 *
 * @module
 */

import { isSame, sha256 } from '../../web/digest.ts'

/** Whose a handle is, and for what. */
export interface Holder {
  readonly owner: string | null
  readonly tool: string
}

/** Makes handles and opens them. */
export interface Seal {
  close(runId: string, holder: Holder): Promise<string>
  /** The run of a handle; undefined for one that was changed, or made for someone else. */
  open(handle: string, holder: Holder): Promise<string | undefined>
}

const HANDLE = /^([\da-f-]{36})\.([\da-f]{64})$/

/** Whether a text has the form of a handle. */
export function isHandle(text: string): boolean {
  return HANDLE.test(text)
}

/** Makes a {@link Seal}. Without a secret a handle is no proof: whose the run is counts, and that nobody guesses its id. */
export function createSeal(secret = ''): Seal {
  const proofOf = async (runId: string, { owner, tool }: Holder) =>
    // Hashed twice, so that nothing can be added to what was signed.
    sha256(secret + (await sha256(JSON.stringify([secret, runId, owner, tool]))))
  return {
    close: async (runId, holder) => `${runId}.${await proofOf(runId, holder)}`,
    async open(handle, holder) {
      const [, runId, proof = ''] = HANDLE.exec(handle) ?? []
      return runId && isSame(proof, await proofOf(runId, holder)) ? runId : undefined
    },
  }
}
