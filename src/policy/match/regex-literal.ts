// Letters that every match of a regex must contain, in any case: a text without them need not be searched.

/** The longest run that is sure, folded to lower case; empty where none is plain to see. */
export function requiredLiteral(regex: string): string {
  let longest = ''
  let run = ''
  const end = (sure: string): void => {
    if (sure.length > longest.length) longest = sure
    run = ''
  }
  for (let i = 0; i < regex.length; i += 1) {
    const char = regex.charAt(i)
    if (char === '|' || regex.startsWith('\\Q', i)) return ''
    if (/[A-Za-z0-9_ /=:@,-]/.test(char)) run += char
    else if (char === '*' || char === '?' || char === '{') {
      // The last letter may be missing; what is in braces is a count.
      end(run.slice(0, -1))
      if (char === '{') i = skipTo(regex, i, '}')
    } else {
      end(run)
      if (char === '\\') i = endOfEscape(regex, i)
      else if (char === '(') i = endOfGroup(regex, i)
      else if (char === '[') i = endOfClass(regex, i)
    }
  }
  end(run)
  return longest.toLowerCase()
}

function skipTo(regex: string, from: number, mark: string): number {
  const at = regex.indexOf(mark, from)
  return at === -1 ? regex.length : at
}

/** Of `\b`, `\x41`, `\x{41}`, `\pL` and `\p{Greek}`. */
function endOfEscape(regex: string, at: number): number {
  const letter = regex.charAt(at + 1)
  if (letter !== 'x' && letter !== 'p' && letter !== 'P') return /[0-7]/.test(letter) ? at + 3 : at + 1
  if (regex.charAt(at + 2) === '{') return skipTo(regex, at, '}')
  return letter === 'x' ? at + 3 : at + 2
}

function endOfGroup(regex: string, start: number): number {
  let depth = 0
  for (let i = start; i < regex.length; i += 1) {
    const char = regex.charAt(i)
    if (char === '\\') i += 1
    else if (char === '[') i = endOfClass(regex, i)
    else if (char === '(') depth += 1
    else if (char === ')') {
      depth -= 1
      if (depth === 0) return i
    }
  }
  return regex.length
}

/** A `]` that comes first belongs to the class. */
function endOfClass(regex: string, start: number): number {
  let i = start + (regex.charAt(start + 1) === '^' ? 2 : 1)
  for (let isFirst = true; i < regex.length; i += 1, isFirst = false) {
    if (regex.charAt(i) === '\\') i += 1
    else if (regex.startsWith('[:', i)) i = Math.max(i, regex.indexOf(':]', i) + 1)
    else if (regex.charAt(i) === ']' && !isFirst) return i
  }
  return regex.length
}
