/**
 * Chats of the AI SDK (`useChat`) as a plugin: the entry `servable/ai-sdk-ui`.
 *
 * @module
 */

import { asPlugin } from '../core/built-in.ts'
import type { Plugin } from '../core/plugin.ts'

/** Serves `POST {prefix}/agents/:name/chat` for `useChat`. */
export function aiSdkUi(): Plugin {
  return asPlugin({ name: 'ai-sdk-ui' })
}
