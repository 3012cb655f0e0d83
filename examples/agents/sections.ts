/** Cuts a text into sections. */

import { keywords } from './words.ts'

/** A section of a text. */
export interface Section {
  /** Empty for text before the first heading. */
  readonly title: string
  /** Depth of the heading, from 1 to 6. */
  readonly level: number
  readonly text: string
}

/** Characters at which a group of paragraphs without headings is complete. */
const GROUP_LENGTH = 800
const TITLE_WORDS = 3

/**
 * The sections under markdown headings, without code blocks. A text without headings has groups of paragraphs, with keywords
 * as their titles.
 */
export function splitSections(text: string): Section[] {
  const sections = byHeading(text)
  return sections.some(section => section.title !== '') ? sections : byParagraph(text)
}

function byHeading(text: string): Section[] {
  const sections: { title: string; level: number; lines: string[] }[] = [{ title: '', level: 1, lines: [] }]
  for (const line of withoutCode(text.split(/\r?\n/))) {
    const heading = readHeading(line)
    if (heading === undefined) sections.at(-1)?.lines.push(line)
    else sections.push({ ...heading, lines: [] })
  }
  return sections
    .map(({ lines, ...section }) => ({ ...section, text: lines.join('\n').trim() }))
    .filter(section => section.title !== '' || section.text !== '')
}

function withoutCode(lines: readonly string[]): string[] {
  let inside = false
  return lines.filter(line => {
    const fence = /^ {0,3}(?:```|~~~)/.test(line)
    if (fence) inside = !inside
    return !fence && !inside
  })
}

function readHeading(line: string): { title: string; level: number } | undefined {
  const marks = /^ {0,3}(#{1,6})\s/.exec(line)
  if (marks?.[1] === undefined) return undefined
  // In `## Title ##` the closing marks do not belong to the title.
  const title = line
    .slice(marks[0].length)
    .trim()
    .replace(/(?:^|\s)#+$/, '')
    .trim()
  return title === '' ? undefined : { title, level: marks[1].length }
}

function byParagraph(text: string): Section[] {
  const groups: string[][] = []
  let length = GROUP_LENGTH
  for (const paragraph of paragraphsOf(text)) {
    if (length >= GROUP_LENGTH) {
      groups.push([])
      length = 0
    }
    groups.at(-1)?.push(paragraph)
    length += paragraph.length
  }
  return groups.map(group => toSection(group.join('\n\n')))
}

function paragraphsOf(text: string): string[] {
  return text
    .split(/\n(?:[^\S\n]*\n)+/)
    .map(paragraph => paragraph.trim())
    .filter(paragraph => paragraph !== '')
}

function toSection(text: string): Section {
  const title = keywords(text, TITLE_WORDS).join(', ')
  return { title: title.charAt(0).toUpperCase() + title.slice(1), level: 2, text }
}
