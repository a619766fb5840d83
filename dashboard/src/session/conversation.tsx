// The conversation of an agent: notes with the seed's words, incursions and resumes as rows of their own (seed 002 §6.3).
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import type { AgentCard, ConversationRow, WaitCard } from '../../../src/hub/contract.ts'
import { Button } from '../components/controls.tsx'
import { Failed, Empty, Loading } from '../components/feedback.tsx'
import { age, clock, clockWithSeconds, plural, sinceMs } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { rowGlyph, rowTone, WAIT } from '../components/words.ts'
import { useRefusals } from './refusals.ts'
import { post, segment } from '../data/client.ts'
import { useHubNow } from '../data/clock.ts'
import { conversationQuery } from '../data/queries.ts'
import { cx } from '../components/cx.ts'
import css from './session.module.css'

interface ConversationProps {
  readonly agent: AgentCard
  readonly wait: WaitCard | undefined
}

export function Conversation({ agent, wait }: ConversationProps): ReactNode {
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery(conversationQuery(agent.agent_id))
  const refused = useRefusals(agent.agent_id)
  const rows = useMemo(() => {
    // Pages overlap when rows arrive between two requests.
    const byId = new Map(data?.pages.flatMap((page) => page.rows).map((row) => [row.row_id, row]))
    const said = [...byId.values()].sort(byTime)
    // Older refusals are shown with the page of their time.
    const from = hasNextPage ? (said[0]?.at ?? '') : ''
    return [...said, ...refused.filter(({ at }) => at >= from)].sort(byTime)
  }, [data, refused, hasNextPage])
  const now = useHubNow()
  const [first] = rows
  return (
    <>
      <header>
        <h3>Conversation</h3>
        <span className="meta">
          {plural(rows.length, 'entry', 'entries')}
          {first !== undefined && ` since ${clock(first.at, now)}`}
        </span>
      </header>
      {data === undefined && error !== null ? (
        <Failed what="No conversation" error={error} />
      ) : data === undefined ? (
        <Loading what="the conversation" />
      ) : rows.length === 0 && wait === undefined ? (
        <Empty title="Nothing said yet">
          Notes to and from {agent.agent_id}, its claims and what was refused to it will be here.
        </Empty>
      ) : (
        <Rows
          rows={rows}
          wait={wait}
          now={now}
          startedAt={agent.run_id === null ? null : agent.started_at}
          onOlder={hasNextPage ? () => void fetchNextPage() : undefined}
        />
      )}
    </>
  )
}

const byTime = (one: ConversationRow, other: ConversationRow): number =>
  one.at < other.at ? -1 : one.at > other.at ? 1 : 0

interface RowsProps {
  readonly rows: readonly ConversationRow[]
  readonly wait: WaitCard | undefined
  readonly now: number
  readonly startedAt: string | null
  readonly onOlder: (() => void) | undefined
}

function Rows({ rows, wait, now, startedAt, onOlder }: RowsProps): ReactNode {
  const scroll = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 56,
    getItemKey: (index) => rows[index]?.row_id ?? index,
    overscan: 12,
  })
  // Follows the newest row, unless the reader has scrolled up.
  const isAtEnd = useRef(true)
  useEffect(() => {
    if (isAtEnd.current && rows.length > 0) virtual.scrollToIndex(rows.length - 1, { align: 'end' })
  }, [rows.length, virtual])
  return (
    <div
      className={cx('column fill scroll', css.talkRows)}
      ref={scroll}
      tabIndex={0}
      role="log"
      aria-label="Conversation"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40
      }}
    >
      {onOlder === undefined && startedAt !== null && (
        <p className={cx('meta', css.talkOlder)}>the run began at {clockWithSeconds(startedAt)}</p>
      )}
      {onOlder !== undefined && (
        <p className={css.talkOlder}>
          <Button size="small" kind="plain" onPress={onOlder}>
            Older
          </Button>
        </p>
      )}
      <span className={css.talkSpace} />
      <div className={css.talkList} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index]
          return row === undefined ? null : (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={css.talkPlace}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Row row={row} now={now} />
            </div>
          )
        })}
      </div>
      {wait !== undefined && (
        <div className={cx('waits', css.talkRow)} data-kind="wait">
          <span className="is-lamp">
            <Icon name={WAIT[wait.kind].glyph} size={13} />
          </span>
          <div className="grow">
            <p className="row">
              <b className={wait.kind === 'collision' ? 'grow is-clash' : 'grow is-lamp'}>{WAIT[wait.kind].word}</b>
              <time className="quiet">{clock(wait.since, now)}</time>
            </p>
            <p className="second wrap">{wait.asked}</p>
            <p className="meta">waits {age(sinceMs(wait.since, now))}, asked of you</p>
          </div>
        </div>
      )}
    </div>
  )
}

function Row({ row, now }: { readonly row: ConversationRow; readonly now: number }): ReactNode {
  const tone = rowTone(row)
  return (
    <div className={css.talkRow} data-kind={row.kind} data-row={row.row_id}>
      <span className={tone || 'quiet'}>
        <Icon name={rowGlyph(row)} size={13} />
      </span>
      <div className="grow">
        <p className="row">
          <b className={`grow cut ${tone}`}>
            {row.label}
            {row.kind === 'note' && row.to !== null && row.label === 'Passed to' && ` ${row.to}`}
          </b>
          {row.note !== null && <span className="meta">from {row.note.from}</span>}
          {row.actor_kind === 'human' && <span className="meta">human</span>}
          {(row.liveness === 'stale' || row.liveness === 'evicted') && (
            <span className="meta is-stale">◌ {row.liveness}</span>
          )}
          <time className="quiet" title={row.at}>
            {clock(row.at, now)}
          </time>
        </p>
        <p className="second wrap">
          {row.kind === 'decision' ? <CallLink call={row.event_id}>{row.text}</CallLink> : row.text}
        </p>
        {row.detail !== null && <p className="meta wrap">{row.detail}</p>}
        {row.note?.next_action != null && <p className="meta wrap">Next action: {row.note.next_action}</p>}
        {row.note?.requested_action != null && (
          <p className="meta wrap">
            Requested action: {row.note.requested_action}, urgency {row.note.urgency}
          </p>
        )}
        {row.note !== null && <NoteState note={row.note} now={now} />}
      </div>
    </div>
  )
}

function CallLink({ call: id, children }: { readonly call: string; readonly children: string }): ReactNode {
  const [run, call] = id.split('/')
  return (
    <Link to="/decisions/{-$run}/{-$call}" params={{ run, call }}>
      {children}
    </Link>
  )
}

function NoteState({
  note,
  now,
}: {
  readonly note: NonNullable<ConversationRow['note']>
  readonly now: number
}): ReactNode {
  const receipt = useMutation({
    mutationFn: (verb: 'seen' | 'ack') => post(`notes/${segment(note.note_id)}/${verb}`),
  })
  return (
    <p className={cx('meta middle', css.noteState)}>
      {note.state !== 'unread' && (
        <span>
          <Icon name="eye" size={12} /> Seen {note.seen_at === null ? '' : clock(note.seen_at, now)}
        </span>
      )}
      {note.state === 'acked' && (
        <span>
          <Icon name="check" size={12} /> Accepted {note.accepted_at === null ? '' : clock(note.accepted_at, now)}
          {note.accepted_by === 'human' && ' by a human'}
        </span>
      )}
      {note.requires_ack && note.state !== 'acked' && (
        <>
          <Button
            size="small"
            kind="plain"
            title="Not accepted yet. Press to accept."
            onPress={() => receipt.mutate('ack')}
          >
            ☐ Accepted
          </Button>
          <span>not yet</span>
        </>
      )}
      {note.state === 'unread' && !note.requires_ack && (
        <Button size="small" kind="plain" onPress={() => receipt.mutate('seen')}>
          ☐ Seen
        </Button>
      )}
      {receipt.error !== null && (
        <span className="is-clash" role="alert">
          ✕ {receipt.error.code}: {receipt.error.message}
        </span>
      )}
    </p>
  )
}
