/**
 * The kit for protocols: the entry `servable/encoders`. What the protocols of this package share, and those of others may use: to check what a
 * client sends, to read a conversation, and to write a run.
 *
 * Begin with `conversation.ts` (who remembers a conversation) and `sent-text.ts` (what a client has got). May import `core` and what is below
 * it.
 *
 * @module
 */

export { errorOf } from '../../agents/event.ts'
export { endMessageOf, Fold } from '../../agents/fold.ts'
export { KINDS } from '../../agents/registry.ts'
export { canonicalJson } from '../../base/canonical-json.ts'
export { asLogged, ignoring, isServableError, reportError } from '../../base/errors.ts'
export { checkOptions, flag, path } from '../../base/schemas.ts'
export { isObject, list, misfit, validate } from '../../base/validation.ts'
export { joinPath, queryOf } from '../../http/router.ts'
export { idempotencyKeyOf } from '../../http/runs/idempotency.ts'
export { MAX_PARTS, parseConversation, RunInputSchema } from '../../runs/input.ts'
export { AnswersSchema } from '../../runs/waiting/answers.ts'
export { readJson, requireJson } from '../../web/body.ts'
export { askedRunOf, type ClientConversation, idText } from './conversation.ts'
export { askedRunInSession, type EditedConversation } from './edits.ts'
export { answeredOnly, givenIn, inputOf, parsed } from './history.ts'
export { findNamed, namesOf } from './named.ts'
export { ANY, isAddress, partsOfFile, urlOf } from './parts.ts'
export { askedForText, questionOf } from './questions.ts'
export { SentText } from './sent-text.ts'
