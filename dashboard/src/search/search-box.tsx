// Search and commands: agents, paths, calls, notes, decisions. `/` or Ctrl-K.
import { useQuery } from '@tanstack/react-query'
import { linkOptions, useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import type { Hit } from '../../../src/hub/contract.ts'
import { Chip, Key } from '../components/controls.tsx'
import { Dialog } from '../components/dialog.tsx'
import { age, plural, sinceMs } from '../components/format.ts'
import { Icon, type IconName } from '../components/icons.tsx'
import { STATE } from '../components/words.ts'
import { commandsFor, type PaletteCommand, type LinkTarget } from './commands.ts'
import { Marked } from './marked.tsx'
import { useHubNow } from '../data/clock.ts'
import { toggleDensity, useToggleTheme } from '../data/preferences.ts'
import { searchQuery } from '../data/queries.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './search.module.css'

const KINDS: readonly { readonly word: string; readonly kinds: readonly Hit['kind'][] }[] = [
  { word: 'Agents', kinds: ['agent', 'session'] },
  { word: 'Paths', kinds: ['path'] },
  { word: 'Calls and decisions', kinds: ['call', 'decision'] },
  { word: 'Notes', kinds: ['note'] },
  { word: 'Tasks', kinds: ['task'] },
]

const GLYPH: Readonly<Record<Hit['kind'], IconName>> = {
  agent: 'dot',
  session: 'terminal',
  path: 'file',
  call: 'check',
  decision: 'back',
  note: 'arrow',
  task: 'list',
}

/** Where a hit is shown. */
function linkOf({ kind, ref }: Hit): LinkTarget {
  switch (kind) {
    case 'agent':
    case 'session':
      return linkOptions({ to: '/session/$agent', params: { agent: ref } })
    case 'path':
      return linkOptions({ to: '/claims/$', params: { _splat: ref } })
    case 'call':
    case 'decision': {
      const [run, call] = ref.split('/')
      return linkOptions({ to: '/decisions/{-$run}/{-$call}', params: { run, call } })
    }
    case 'note':
      return linkOptions({ to: '/session/$agent', params: { agent: ref.split('/')[0] ?? ref } })
    case 'task':
      return linkOptions({ to: '/tasks/{-$task}', params: { task: ref } })
  }
}

type Choice = { readonly id: string; readonly group: string; readonly act: PaletteCommand['act'] } & (
  | { readonly hit: Hit; readonly command?: undefined }
  | { readonly command: PaletteCommand; readonly hit?: undefined }
)

export function SearchBox({
  onClose,
  onKeys,
}: {
  readonly onClose: () => void
  readonly onKeys: () => void
}): ReactNode {
  const [text, setText] = useState('')
  const [asked, setAsked] = useState('')
  const [only, setOnly] = useState<string | null>(null)
  const [at, setAt] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.replace(/^[>@]/, '').trim()), 120)
    return () => clearTimeout(timer)
  }, [text])
  const { data, error } = useQuery({ ...searchQuery(asked), enabled: asked !== '' })
  const router = useRouter()
  const toggleTheme = useToggleTheme()
  const agents = useStore((state) => state.agents)
  const choices = useMemo(
    () =>
      choicesOf(
        { hits: data?.hits ?? [], text, only, agents: [...agents.keys()] },
        { openKeys: onKeys, toggleTheme, toggleDensity },
      ),
    [data, text, only, agents, onKeys, toggleTheme],
  )
  const chosen = choices[Math.min(at, choices.length - 1)]
  const hrefOf = (target: LinkTarget): string => router.history.createHref(router.buildLocation(target).href)
  const act = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    onClose()
    if (typeof choice.act === 'function') choice.act()
    else void router.navigate(choice.act)
  }
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const { key } = event
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault()
      setAt((before) => Math.max(0, Math.min(choices.length - 1, before + (key === 'ArrowDown' ? 1 : -1))))
    } else if (key === 'Enter') {
      event.preventDefault()
      if ((event.ctrlKey || event.metaKey) && chosen?.hit !== undefined)
        void navigator.clipboard.writeText(new URL(hrefOf(linkOf(chosen.hit)), location.href).href)
      else act(chosen)
    }
  }
  const groups = [...new Set(choices.map(({ group }) => group))]
  return (
    <Dialog label="Search or run a command" onClose={onClose}>
      <div className="search" onKeyDown={onKeyDown}>
        <label className={cx('middle', css.searchField)}>
          <Icon name="search" size={17} />
          <span className="hidden-text">Search or run a command</span>
          <input
            data-first
            value={text}
            maxLength={200}
            placeholder="Search or run a command"
            role="combobox"
            aria-expanded="true"
            aria-controls="search-results"
            aria-activedescendant={chosen === undefined ? undefined : `choice-${chosen.id}`}
            onChange={(event) => {
              setText(event.target.value)
              setAt(0)
            }}
          />
          <span className="meta" role="status">
            {data !== undefined &&
              asked !== '' &&
              `${plural(data.hits.length, 'result')} in ${Math.round(data.took_ms)} ms`}
            {error !== null && `✕ ${error.code}`}
          </span>
          <Key>Esc</Key>
        </label>
        {asked !== '' && data !== undefined && (
          <div className={cx('chips', css.searchChips)}>
            <Chip isOn={only === null} onPress={() => setOnly(null)}>
              All {data.hits.length}
            </Chip>
            {KINDS.map(({ word, kinds }) => {
              const count = kinds.reduce((sum, kind) => sum + (data.counts[kind] ?? 0), 0)
              return count === 0 ? null : (
                <Chip key={word} isOn={only === word} onPress={() => setOnly(only === word ? null : word)}>
                  {word} {count}
                </Chip>
              )
            })}
          </div>
        )}
        <div id="search-results" role="listbox" aria-label="Results" className={css.searchResults}>
          {groups.map((group) => (
            <div key={group} role="group" aria-label={group}>
              <p className={cx('meta', css.searchGroup)}>{group}</p>
              {choices.map((choice, index) =>
                choice.group === group ? (
                  <div
                    key={choice.id}
                    id={`choice-${choice.id}`}
                    role="option"
                    aria-selected={choice === chosen}
                    className={cx('middle', css.searchRow)}
                    onMouseMove={() => setAt(index)}
                    onClick={() => act(choice)}
                  >
                    {choice.hit === undefined ? (
                      <CommandRow command={choice.command} text={asked} />
                    ) : (
                      <HitRow hit={choice.hit} text={asked} />
                    )}
                  </div>
                ) : null,
              )}
            </div>
          ))}
          {choices.length === 0 && <p className="padded second">No results.</p>}
        </div>
        <p className={cx('meta middle', css.searchFoot)}>
          <Key>↑</Key> <Key>↓</Key> move <Key>↵</Key> open <Key>Ctrl ↵</Key> copy link <span className="grow" />
          type &gt; for commands only, @ for agents
        </p>
      </div>
    </Dialog>
  )
}

interface Choosing {
  readonly hits: readonly Hit[]
  readonly text: string
  readonly only: string | null
  readonly agents: readonly string[]
}

function choicesOf(
  { hits, text, only, agents }: Choosing,
  settings: Parameters<typeof commandsFor>[2],
): readonly Choice[] {
  const words = text.replace(/^[>@]/, '').trim()
  const known = new Set(agents)
  const best = {
    path: words === '' ? undefined : hits.find(({ kind }) => kind === 'path')?.ref,
    agents: words === '' ? [] : hits.flatMap(({ kind, ref }) => (kind === 'agent' && known.has(ref) ? [ref] : [])),
  }
  const commands: Choice[] = commandsFor(words, best, settings).map((command, index) => ({
    id: `c${index}`,
    group: 'Commands',
    command,
    act: command.act,
  }))
  if (text.startsWith('>')) return commands
  const found = KINDS.flatMap(({ word, kinds }) => {
    if (only !== null && only !== word) return []
    if (text.startsWith('@') && word !== 'Agents') return []
    return hits.flatMap((hit, index): Choice[] =>
      kinds.includes(hit.kind) ? [{ id: `h${index}`, group: word, hit, act: linkOf(hit) }] : [],
    )
  })
  return only === null && !text.startsWith('@') ? [...found, ...commands] : found
}

function HitRow({ hit, text }: { readonly hit: Hit; readonly text: string }): ReactNode {
  const now = useHubNow()
  const state = hit.state === null ? undefined : STATE[hit.state]
  return (
    <>
      <span className={state === undefined ? 'quiet' : `state ${state.tone}`}>
        <Icon name={state?.glyph ?? GLYPH[hit.kind]} size={13} />
      </span>
      <b className={hit.kind === 'path' ? 'mono cut' : 'cut'}>
        <Marked text={hit.title} words={text} />
      </b>
      <span className="second cut grow">
        <Marked text={hit.text} words={text} />
      </span>
      {hit.at !== null && <span className="meta">{age(sinceMs(hit.at, now))}</span>}
    </>
  )
}

function CommandRow({ command, text }: { readonly command: PaletteCommand; readonly text: string }): ReactNode {
  return (
    <>
      <span className="quiet">
        <Icon name="prompt" size={13} />
      </span>
      <b className="cut">
        <Marked text={command.title} words={text} />
      </b>
      <span className="grow" />
      <code className="quiet cut">{command.shown}</code>
    </>
  )
}
