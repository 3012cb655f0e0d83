import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reportOf, statementsOf } from '../../.ci/api.ts'

const MODULES = new Map([
  [
    'index',
    `/** Entry. */
export * from './agents/agent.ts';
export { type Options as AgentOptions, make } from './agents/options.ts';
export type { LanguageModel } from 'ai';
`,
  ],
  [
    'agents/agent',
    `import type { Inner } from './inner.ts';
import * as v from 'valibot';
/** An agent. */
export declare class Agent {
    #private;
    /** \`}\` and ';' */
    readonly inner: Inner<"};">; // end
    parse(schema: v.GenericSchema): void;
}
`,
  ],
  [
    'agents/options',
    `import type { Agent } from './agent.ts';
export interface Options {
    readonly agent: Agent;
}
export declare function make(options: Options): Agent;
export declare function make(): undefined;
interface Hidden {
    readonly secret: string;
}
`,
  ],
  [
    'agents/inner',
    `export type Inner<T> = {\n    readonly value: T;\n} | undefined;\nexport type Other = string;\nexport {};\n`,
  ],
])

const of = (modules: ReadonlyMap<string, string>) => reportOf([['servable', 'index']], modules)

describe('the report of the interface', () => {
  it('has the names of entries, and the declarations that they refer to', () => {
    expect(of(MODULES)).toEqual({
      'entries.txt': 'servable\n  Agent\n  AgentOptions: Options\n  LanguageModel\n  make\n',
      'types.txt': `# Agent
// v is * of valibot
declare class Agent {
    #private;
    readonly inner: Inner<"};">;
    parse(schema: v.GenericSchema): void;
}

# Inner
type Inner<T> = {
    readonly value: T;
} | undefined;

# Options
interface Options {
    readonly agent: Agent;
}

# make
declare function make(options: Options): Agent;
declare function make(): undefined;
`,
    })
  })

  it.each([
    ['a type that an export refers to', 'agents/inner', 'value: T', 'value?: T', true],
    ['an overload', 'agents/options', 'make(): undefined', 'make(): null', true],
    ['a type that nobody sees', 'agents/options', 'secret: string', 'secret: number', false],
    ['a comment', 'agents/agent', 'An agent.', 'One agent.', false],
  ])('tells of %s: %s', (_, path, old, now, isSeen) => {
    const changed = new Map(MODULES).set(path, (MODULES.get(path) ?? '').replace(old, now))
    const [before, after] = [of(MODULES), of(changed)]
    if (isSeen) expect(after).not.toEqual(before)
    else expect(after).toEqual(before)
  })

  it('does not tell of a file that moves', () => {
    const moved = new Map(MODULES)
    moved.set('other/inner', MODULES.get('agents/inner') ?? '').delete('agents/inner')
    moved.set('agents/agent', (MODULES.get('agents/agent') ?? '').replace('./inner.ts', '../other/inner.ts'))
    expect(of(moved)).toEqual(of(MODULES))
  })

  it('finds the ends of statements, whatever is in strings and comments', () => {
    const text = fc.string({ unit: fc.constantFrom(...'{}()[];/* a') })
    const statement = text.map(each => `export declare const x: { readonly [${JSON.stringify(each)}]: "y" };`)
    const comment = text.map(each => `/* ${each.replaceAll('/', '')} */`)
    fc.assert(
      fc.property(fc.array(fc.tuple(comment, statement)), parts => {
        const file = parts.map(part => part.join('\n')).join('\n')
        expect(statementsOf(file)).toEqual(parts.map(([, each]) => each))
      }),
    )
  })
})
