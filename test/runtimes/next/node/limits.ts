/** The bounds of the service. */

/** Connections of a process. */
export const MAX_CONNECTIONS = 3

/** Runs of one owner at work, in all processes. */
export const MAX_RUNNING = 2

/** Tokens of one owner in a window. */
export const MAX_TOKENS = 2000
