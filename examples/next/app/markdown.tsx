import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'

/**
 * What an agent says in markdown. HTML in it is shown as text. Pictures in it are left out: with the address of one, an agent that was
 * tricked could tell another server what it knows.
 */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        disallowedElements={['img']}
        components={{ a: ({ node: _, ...link }) => <a {...link} target="_blank" rel="noreferrer" /> }}
      >
        {text}
      </ReactMarkdown>
    </div>
  )
}
