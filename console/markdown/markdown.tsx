import type { ComponentChild, VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { type Block, finished, Growing } from './blocks.ts'
import { drawn } from './elements.ts'

/** Elements of a group. */
const GROUP = 16

/** Markdown, which may only grow. */
export function Markdown({ text, isWhole }: { text: string; isWhole: boolean }) {
  const shown = useRef<Shown>(undefined)
  shown.current ??= new Shown()
  return <div class="markdown">{shown.current.of(text, isWhole)}</div>
}

/** Consecutive blocks. Preact skips an unchanged component, but compares elements even then. */
function Group({ children }: { children: ComponentChild[] }) {
  return <div>{children}</div>
}

/** A closed block. */
function Closed({ block }: { block: Block }) {
  return <>{drawn(block)}</>
}

/** The rendering of a text. Closed blocks are rendered once, in groups that are skipped as one. */
class Shown {
  #document = new Growing()
  #length = 0
  #groups: VNode[] = []
  /** Closed blocks that do not fill a group yet. */
  #last: ComponentChild[] = []
  #count = 0
  #isFinished = false

  of(text: string, isWhole: boolean): VNode[] {
    if (text.length < this.#length) {
      this.#restart(new Growing())
      this.#length = 0
    }
    if (text.length > this.#length) this.#document.add(text.slice(this.#length))
    this.#isFinished &&= text.length === this.#length
    this.#length = text.length
    if (isWhole && !this.#isFinished) {
      const document = finished(text, this.#document)
      if (document !== this.#document) this.#restart(document)
      this.#isFinished = true
    }
    const document = this.#document
    for (const block of document.closed.slice(this.#count)) {
      this.#last.push(<Closed block={block} />)
      if (this.#last.length === GROUP) this.#groups.push(this.#group(this.#last.splice(0)))
    }
    this.#count = document.closed.length
    return [...this.#groups, this.#group([...this.#last, ...document.rest().map(drawn)])]
  }

  /** A group keeps its key when it is full. */
  #group(elements: ComponentChild[]): VNode {
    return <Group key={this.#groups.length}>{elements}</Group>
  }

  #restart(document: Growing): void {
    this.#document = document
    this.#groups = []
    this.#last = []
    this.#count = 0
  }
}
