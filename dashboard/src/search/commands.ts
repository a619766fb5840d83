// Commands of the search box: screens, and what can be asked of the words that were typed.
import { go, placeLink } from '../shell/place.ts'
import { choose, shownTheme, tasteNow } from '../shell/taste.ts'

export interface PaletteCommand {
  readonly title: string
  /** The key, or the same in a terminal. */
  readonly shown: string
  readonly act: () => void
}

const copy = (text: string) => (): void => void navigator.clipboard.writeText(text)

interface Found {
  /** The best path and the best agents of what was found. */
  readonly path: string | undefined
  readonly agents: readonly string[]
}

export function commandsFor(words: string, { path, agents }: Found, onKeys: () => void): readonly PaletteCommand[] {
  const low = words.toLowerCase()
  const standing: readonly PaletteCommand[] = [
    { title: 'Needs you', shown: 'g n', act: () => go(placeLink('needs-you')) },
    { title: 'Fleet', shown: 'g f', act: () => go(placeLink('fleet')) },
    { title: 'Claims', shown: 'g c', act: () => go(placeLink('claims')) },
    { title: 'Decisions', shown: 'g d', act: () => go(placeLink('decisions')) },
    { title: 'Timeline', shown: 'g t', act: () => go(placeLink('timeline')) },
    { title: 'Tasks', shown: 'g k', act: () => go(placeLink('tasks')) },
    { title: 'Tokens', shown: 'g o', act: () => go(placeLink('tokens')) },
    { title: 'Keys', shown: '?', act: onKeys },
    { title: 'Dark or light', shown: '', act: () => choose({ theme: shownTheme() === 'dark' ? 'light' : 'dark' }) },
    {
      title: 'Compact or comfortable',
      shown: '',
      act: () => choose({ density: tasteNow().density === 'compact' ? 'comfortable' : 'compact' }),
    },
  ]
  const asked: PaletteCommand[] = []
  const named = path ?? (/[/.]/.test(words) && !words.includes(' ') ? words : undefined)
  if (named !== undefined)
    asked.push({
      title: `Why is ${named} held?`,
      shown: `heimdall why ${named}`,
      act: () => go(placeLink('claims', named)),
    })
  for (const agent of agents.slice(0, 2))
    asked.push(
      {
        title: `Decisions of ${agent}`,
        shown: `heimdall events --agent ${agent}`,
        act: () => go(placeLink('decisions', null, { agent })),
      },
      { title: `Attach to ${agent}`, shown: `hm attach ${agent}`, act: copy(`hm attach ${agent}`) },
    )
  return [...asked, ...standing.filter(({ title }) => title.toLowerCase().includes(low))].slice(0, 8)
}
