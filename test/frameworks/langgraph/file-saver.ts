import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { MemorySaver } from '@langchain/langgraph'

/** A checkpointer that survives its process: the one in memory, written to a file after each change. */
export class FileSaver extends MemorySaver {
  readonly #path: string

  constructor(path: string) {
    super()
    this.#path = path
    if (existsSync(path)) Object.assign(this, deserialize(readFileSync(path)))
  }

  override async put(...args: Parameters<MemorySaver['put']>): ReturnType<MemorySaver['put']> {
    const config = await super.put(...args)
    this.#write()
    return config
  }

  override async putWrites(...args: Parameters<MemorySaver['putWrites']>): Promise<void> {
    await super.putWrites(...args)
    this.#write()
  }

  #write(): void {
    const { storage, writes } = this
    writeFileSync(this.#path, serialize({ storage, writes }))
  }
}
