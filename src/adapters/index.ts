/**
 * Makes agents of other frameworks servable, and plain functions. It imports none of the frameworks: agents are known
 * by their structure.
 *
 * @module
 */

export { type ServableOptions, servable } from './servable.ts'
