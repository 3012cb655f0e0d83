/** Texts that people read. */

/** Characters that are invisible, or that change the order of others: controls, and direction marks. */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Cf}]/gu

/** The text with these characters escaped, such as `\u202e`. Tabs and line ends stay. JSON keeps its meaning. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, each => each.split('').map(escaped).join(''))
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Created once, since creating it is slower than using it. */
const numbers = new Intl.NumberFormat()

/** A number in the reader's format: `1,003`. */
export function number(value: number): string {
  return numbers.format(value)
}

/** A duration: `158 ms`, `3.2 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round((ms % 60_000) / 1000)
  return `${Math.floor(ms / 60_000)} min${seconds > 0 ? ` ${seconds} s` : ''}`
}

/** The first line of a text that is not empty. */
export function firstLine(text: string): string {
  return /\S[^\n]*/.exec(text)?.[0] ?? ''
}

/** An age: `12 s`, `5 min`, `3 h`, `2 d`. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}

/** A number of bytes: `12 KiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const [amount, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB']
  return `${amount.toFixed(amount < 10 ? 1 : 0)} ${unit}`
}

const dollars = [2, 4].map(
  digits =>
    new Intl.NumberFormat(undefined, {
      ...{ style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' },
      ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
    }),
)

/** An amount in US dollars, with enough digits for small amounts. */
export function money(usd: number): string {
  return dollars[usd === 0 || usd >= 1 ? 0 : 1]!.format(usd)
}

/** A typed value: JSON, or else text. */
export function typedValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const clocks = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

/** The time of the day of a moment, in the reader's time zone: `12:04`. */
export function clock(at: number): string {
  return clocks.format(at)
}
