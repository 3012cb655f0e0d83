import type { Document } from '../../../src/stores/store.ts'

/** A document in which usually only the id matters. */
export function doc(id: string, rest: Partial<Document> = {}): Document {
  return { id, partition: 'p', at: 1, tags: {}, value: { of: id }, ...rest }
}

/** The ids of documents, in their order. */
export function ids(documents: readonly Document[]): string[] {
  return documents.map(({ id }) => id)
}
