// What happened in a run, as a list: the same marks as on the canvas, for the keyboard and for those who do not see it.
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import type { DecisionWord, RunRow, TimelineSpan } from '../../../src/hub/contract.ts'
import { Button, Copy } from '../components/controls.tsx'
import { Empty } from '../components/feedback.tsx'
import { clockWithSeconds, plural } from '../components/format.ts'
import { decisionWord } from '../components/words.ts'
import { useListKeys } from '../shell/keys.tsx'
import { cx } from '../components/cx.ts'
import css from './timeline.module.css'

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
  if (lane === 'call') return 'Called'
  if (lane === 'claim') return 'Claimed'
  if (lane === 'state') return 'Waits for you'
  return /^Needs input|^Passed|^Resume|^Incursion/.exec(label)?.[0] ?? 'Note'
}

/** What the word before it does not say already. */
function restOf(span: TimelineSpan): string {
  const word = wordOf(span)
  return span.label.startsWith(word) ? span.label.slice(word.length).replace(/^[:\s]+/, '') : span.label
}

const isNotable = ({ lane, kind }: TimelineSpan): boolean =>
  lane === 'note' || lane === 'decision' || (lane === 'state' && /wait|needs/.test(kind)) || lane === 'claim'

/** The same call again and again is one entry that says how often. What was refused stands there as such already. */
function callsInARow(spans: readonly TimelineSpan[]): TimelineSpan[] {
  const decided = new Set(spans.flatMap(({ lane, ref }) => (lane === 'decision' ? [ref] : [])))
  // One mark for calls that cannot be told apart says itself how many it is.
  const calls = spans.filter(({ lane, ref, count }) => lane === 'call' && count === 1 && !decided.has(ref))
  const rows: TimelineSpan[] = []
  for (const call of calls.toSorted((one, other) => (one.from < other.from ? -1 : 1))) {
    const last = rows.at(-1)
    if (last !== undefined && last.track === call.track && last.label === call.label)
      rows[rows.length - 1] = { ...last, to: call.to, count: last.count + call.count }
    else rows.push(call)
  }
  return rows.map((row) => ({
    ...row,
    label: `${row.track} · ${row.label}${row.count > 1 ? `, ${row.count} times` : ''}`,
  }))
}

const isSame = (span: TimelineSpan, selected: TimelineSpan | null): boolean =>
  selected !== null && span.ref === selected.ref && span.lane === selected.lane

export function Happened({ spans, selected, run, onSelect }: HappenedProps): ReactNode {
  const notable = useMemo(
    () => [...spans.filter(isNotable), ...callsInARow(spans)].sort((one, other) => (one.from < other.from ? -1 : 1)),
    [spans],
  )
  const shown = notable.slice(-SHOWN_MAX)
  const navigate = useNavigate()
  const open = (): void => {
    if (selected !== null && (selected.lane === 'decision' || selected.lane === 'call')) {
      const [of, call] = selected.ref.includes('/') ? selected.ref.split('/') : [run.run_id, selected.ref]
      void navigate({ to: '/decisions/{-$run}/{-$call}', params: { run: of, call } })
    }
  }
  const at = shown.findIndex((span) => isSame(span, selected))
  useListKeys(shown, at, onSelect, { Enter: open })
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
        <Empty title={run.ended_at === null ? 'Nothing yet' : 'Nothing is on record'} />
      ) : (
        <ul className={cx('scroll', css.happenedList)}>
          {shown.map((span, index) => (
            <li key={`${span.ref} ${index}`}>
              <button type="button" aria-pressed={isSame(span, selected)} onClick={() => onSelect(span)}>
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
                <bdi className="second cut grow">{restOf(span)}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
