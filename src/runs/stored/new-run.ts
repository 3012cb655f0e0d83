import type { Target } from '../target.ts'
import type { StartRequest } from './host.ts'
import type { StoredRun } from './record.ts'

/** Makes the record of a run that starts now. */
export function newRun(
  { id, at, instance, session }: Pick<StoredRun, 'at' | 'instance' | 'session'> & { readonly id: string },
  {
    target,
    options,
    owner,
    key,
    continues,
    transport,
    taskId,
    webhook,
    retryOf,
    title,
  }: Pick<StartRequest, 'options' | 'owner' | 'key' | 'continues' | 'transport' | 'webhook' | 'retryOf'> & {
    readonly target: Pick<Target, 'kind' | 'name'>
    readonly taskId?: string | undefined
    readonly title?: string | undefined
  },
): StoredRun {
  const createdAt = new Date(at).toISOString()
  const { kind, name } = target
  const { sessionId, userId } = options
  return {
    record: {
      id,
      kind,
      name,
      status: 'running',
      ...(title !== undefined && { title }),
      createdAt,
      updatedAt: createdAt,
      ...(sessionId !== undefined && { sessionId }),
      ...(userId !== undefined && { userId }),
      ...(continues?.from && { continuedFrom: continues.from }),
      ...(retryOf !== undefined && { retryOf }),
      ...(transport !== undefined && { transport }),
      ...(taskId !== undefined && { taskId }),
    },
    owner,
    at,
    instance,
    keyId: key?.id ?? null,
    ...(session && { session }),
    ...(webhook && { webhook }),
  }
}
