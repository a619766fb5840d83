// Commands of the search box: screens, and what can be done with the text that was typed.
import { linkOptions, type LinkProps } from '@tanstack/react-router'
import { SCREENS } from '../shell/screens.ts'

export type LinkTarget = Pick<LinkProps, 'to' | 'params' | 'search'>

export interface PaletteCommand {
  readonly title: string
  /** The key, or the same in a terminal. */
  readonly shown: string
  /** Where it leads, or what it does. */
  readonly act: LinkTarget | (() => void)
}

interface Settings {
  readonly openKeys: () => void
  readonly toggleTheme: () => void
  readonly toggleDensity: () => void
}

const copy = (text: string) => (): void => void navigator.clipboard.writeText(text)

interface Found {
  /** The best path and the best agents among the hits. */
  readonly path: string | undefined
  readonly agents: readonly string[]
}

export function commandsFor(
  text: string,
  { path, agents }: Found,
  { openKeys, toggleTheme, toggleDensity }: Settings,
): readonly PaletteCommand[] {
  const fixed: readonly PaletteCommand[] = [
    ...SCREENS.map(({ title, key, link }) => ({ title, shown: key, act: link })),
    { title: 'Keys', shown: '?', act: openKeys },
    { title: 'Dark or light', shown: '', act: toggleTheme },
    { title: 'Compact or comfortable', shown: '', act: toggleDensity },
  ]
  const found: PaletteCommand[] = []
  const named = path ?? (/[/.]/.test(text) && !text.includes(' ') ? text : undefined)
  if (named !== undefined)
    found.push({
      title: `Why is ${named} held?`,
      shown: `heimdall why ${named}`,
      act: linkOptions({ to: '/claims/$', params: { _splat: named } }),
    })
  for (const agent of agents.slice(0, 2))
    found.push(
      {
        title: `Decisions of ${agent}`,
        shown: `heimdall events --agent ${agent}`,
        act: linkOptions({
          to: '/decisions/{-$run}/{-$call}',
          params: { run: undefined, call: undefined },
          search: { agent },
        }),
      },
      { title: `Attach to ${agent}`, shown: `hm attach ${agent}`, act: copy(`hm attach ${agent}`) },
    )
  const low = text.toLowerCase()
  return [...found, ...fixed.filter(({ title }) => title.toLowerCase().includes(low))].slice(0, 8)
}
