/**
 * Handles of waiting runs, which clients send back: the `requestState` of MCP. A handle belongs to one run, one owner and one
 * tool.
 *
 * @module
 */

import { isSame, sha256 } from '../../web/digest.ts'

/** The owner and the tool that a handle is for. */
export interface HandleOwner {
  readonly owner: string | null
  readonly tool: string
}

/** Makes handles and opens them. */
export interface HandleSeal {
  close(runId: string, holder: HandleOwner): Promise<string>
  /** The run of a handle. Undefined for a handle that was changed, or made for another owner or tool. */
  open(handle: string, holder: HandleOwner): Promise<string | undefined>
}

const HANDLE = /^([\da-f-]{36})\.([\da-f]{64})$/

/** Whether a text has the form of a handle. */
export function isHandle(text: string): boolean {
  return HANDLE.test(text)
}

/**
 * Makes a {@link HandleSeal}. Without a secret a handle proves nothing. Then only the run's owner and its random id protect it.
 */
export function createHandleSeal(secret = ''): HandleSeal {
  const proofOf = async (runId: string, { owner, tool }: HandleOwner) =>
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
