import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'

/** An empty place: what is not there, and a command that changes it. */
export function Empty({ children, command }: { children: ComponentChildren; command?: string | undefined }) {
  return (
    <div class="void">
      <p class="soft">{children}</p>
      {command !== undefined && (
        <div class="cmd">
          <code>{command}</code>
          <CopyButton text={command} label="command" />
        </div>
      )}
    </div>
  )
}
