import type { UseChatHelpers } from '@ai-sdk/react'
import type { ComponentProps } from 'react'
import type { KeptMessage } from 'servable/ai-sdk-ui/page'
import { sessions, type Turns } from './service.ts'

const textOf = ({ parts }: KeptMessage) => parts.map(part => (part.type === 'text' ? part.text : '')).join('')
export const Button = (props: ComponentProps<'button'>) => <button type="button" {...props} />

type Props = { message: KeptMessage; chat: UseChatHelpers<KeptMessage>; turns: Turns; onShow: () => void }

export function Message({ message, chat, turns, onShow }: Props) {
  if (message.role === 'assistant')
    return (
      <p>
        {textOf(message)} <Button onClick={() => chat.regenerate({ messageId: message.id })}>Again</Button>
      </p>
    )
  const { runId = '', alternatives = [] } = turns.find(({ messageId }) => messageId === message.id) ?? {}
  const next = alternatives.indexOf(runId) + 1
  const head = alternatives.at(next % alternatives.length) ?? runId
  function edit(): void {
    const text = prompt('Your message', textOf(message))
    if (text) void chat.sendMessage({ text, messageId: message.id })
  }
  return (
    <p>
      <strong>{textOf(message)}</strong> <Button onClick={edit}>Edit</Button>
      {alternatives.length > 1 && (
        <Button onClick={() => sessions.setHead('assistant', chat.id, head).then(onShow)}>
          {next} of {alternatives.length}
        </Button>
      )}
    </p>
  )
}
