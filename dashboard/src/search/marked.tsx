// Text with the words that were searched for underlined. Only ever text.
import { Fragment, type ReactNode } from 'react'

export function Marked({ text, words }: { readonly text: string; readonly words: string }): ReactNode {
  if (words === '') return text
  const parts: ReactNode[] = []
  const low = text.toLowerCase()
  const wanted = words.toLowerCase()
  let from = 0
  for (let at = low.indexOf(wanted); at !== -1; at = low.indexOf(wanted, from)) {
    parts.push(
      <Fragment key={at}>{text.slice(from, at)}</Fragment>,
      <u key={`u${at}`}>{text.slice(at, at + wanted.length)}</u>,
    )
    from = at + wanted.length
  }
  return [...parts, text.slice(from)]
}
