/** The clients, by name, each with the interfaces that it has. */
import type OpenAI from 'openai'
import * as agents from './agents-sdk.ts'
import * as ai from './ai-sdk.ts'
import * as langchain from './langchain.ts'
import * as openai from './openai.ts'
import type { Sdk, Way } from './way.ts'

/** What the clients of a service are told: its address, and a key. */
type Place = readonly [baseURL: string, apiKey: string]

/** Every way to ask. */
export function waysTo(...place: Place): Readonly<Record<string, Way>> {
  const [five, six, seven] = majors(place)
  return {
    'openai 5, chat': openai.chat(five),
    'openai 5, responses': openai.responses(five),
    'openai 6, chat': openai.chat(six),
    'openai 6, responses': openai.responses(six),
    'openai 7, chat': openai.chat(seven),
    'openai 7, responses': openai.responses(seven),
    '@openai/agents, chat': agents.chat(seven),
    '@openai/agents, responses': agents.responses(seven),
    '@langchain/openai, chat': langchain.chat(...place),
    '@langchain/openai, responses': langchain.responses(...place),
    '@ai-sdk/openai, chat': ai.chat(...place),
    '@ai-sdk/openai, responses': ai.responses(...place),
    '@ai-sdk/openai-compatible': ai.compatible(...place),
    '@ai-sdk/open-responses': ai.openResponses(...place),
  }
}

const majors = ([baseURL, apiKey]: Place) =>
  openai.MAJORS.map(Sdk => new Sdk({ baseURL, apiKey })) as [OpenAI, OpenAI, OpenAI]

/** The SDK of OpenAI: majors 5, 6 and 7. */
export function sdksTo(...place: Place): readonly Sdk[] {
  return majors(place) as unknown as Sdk[]
}
