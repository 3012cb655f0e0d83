/** The common named character references. */
const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', shy: '\u00ad' },
  ...{ copy: '©', reg: '®', trade: '™', deg: '°', sect: '§', para: '¶', middot: '·', bull: '•' },
  ...{
    hellip: '…',
    ndash: '–',
    mdash: '—',
    lsquo: '‘',
    rsquo: '’',
    ldquo: '“',
    rdquo: '”',
    laquo: '«',
    raquo: '»',
  },
  ...{
    euro: '€',
    pound: '£',
    yen: '¥',
    cent: '¢',
    times: '×',
    divide: '÷',
    plusmn: '±',
    frac12: '½',
    sup2: '²',
  },
  ...{
    larr: '←',
    rarr: '→',
    uarr: '↑',
    darr: '↓',
    harr: '↔',
    le: '≤',
    ge: '≥',
    ne: '≠',
    infin: '∞',
    check: '✓',
  },
}

const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z][a-zA-Z\d]{1,31}));/g

/** A text with its character references decoded. */
export function decoded(text: string): string {
  return text.replace(ENTITY, (whole, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? NAMED[name]! : whole
    const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal)
    const isOne = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    return isOne ? String.fromCodePoint(code) : '\ufffd'
  })
}
