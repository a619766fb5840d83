// What happened in a run, as a list: the same marks as on the canvas, for the keyboard and for those who do not see it.
import { type ReactNode, useMemo } from 'react'
import type { DecisionWord, RunRow, TimelineSpan } from '../../../src/hub/contract.ts'
import { Button, Copy } from '../parts/controls.tsx'
import { Empty } from '../parts/days.tsx'
import { clockWithSeconds, plural } from '../parts/format.ts'
import { decisionWord } from '../parts/words.ts'
import { useKeys } from '../shell/keys.ts'
import { go, placeLink } from '../shell/place.ts'

const SHOWN_MAX = 400

interface HappenedProps {
  readonly spans: readonly TimelineSpan[]
  readonly selected: TimelineSpan | null
  readonly run: RunRow
  readonly onSelect: (span: TimelineSpan) => void
}

/** What kind of thing happened, in the words of the other screens. */
function wordOf({ lane, kind, label }: TimelineSpan): string {
  if (lane === 'decision') return decisionWord({ decision: kind as DecisionWord, enforced: true }).word
  if (lane === 'claim') return 'Claimed'
  if (lane === 'state') return 'Waits for you'
  return /^Needs input|^Passed|^Resume|^Incursion/.exec(label)?.[0] ?? 'Note'
}

const isNotable = ({ lane, kind }: TimelineSpan): boolean =>
  lane === 'note' || lane === 'decision' || (lane === 'state' && /wait|needs/.test(kind)) || lane === 'claim'

export function Happened({ spans, selected, run, onSelect }: HappenedProps): ReactNode {
  const notable = useMemo(() => spans.filter(isNotable).sort((one, other) => (one.from < other.from ? -1 : 1)), [spans])
  const shown = notable.slice(-SHOWN_MAX)
  const move = (by: number): void => {
    const at = selected === null ? -1 : shown.indexOf(selected)
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + by))]
    if (next !== undefined) onSelect(next)
  }
  const open = (): void => {
    if (selected !== null && (selected.lane === 'decision' || selected.lane === 'call'))
      go(placeLink('decisions', selected.ref.includes('/') ? selected.ref : `${run.run_id}/${selected.ref}`))
  }
  useKeys({ j: () => move(1), k: () => move(-1), Enter: open })
  return (
    <section className={selected === null ? 'pane happened' : 'pane inspector happened'} aria-label="What happened">
      <header>
        <h3 className="grow">
          {selected === null ? 'What happened' : selected.label}{' '}
          <span className="meta">
            {selected === null ? plural(notable.length, 'entry', 'entries') : clockWithSeconds(selected.from)}
          </span>
        </h3>
        {selected !== null && (selected.lane === 'decision' || selected.lane === 'call') && (
          <Button size="small" after="↵" onPress={open}>
            Open decision
          </Button>
        )}
        <Copy text={location.href} label="Copy link" />
      </header>
      {shown.length === 0 ? (
        <Empty title={run.ended_at === null ? 'Only calls, or nothing yet' : 'Nothing but calls is on record'} />
      ) : (
        <ul className="happened-list">
          {shown.map((span, index) => (
            <li key={`${span.ref} ${index}`}>
              <button type="button" aria-pressed={span === selected} onClick={() => onSelect(span)}>
                <time className="quiet">{clockWithSeconds(span.from)}</time>
                <span
                  className={
                    /refused|blocked|ended|incursion/i.test(span.kind)
                      ? 'is-clash'
                      : /wait|input|needs/i.test(span.kind)
                        ? 'is-lamp'
                        : ''
                  }
                >
                  {wordOf(span)}
                </span>
                <bdi className="second cut grow">{span.label}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
