// One call in three columns: it asked, it was decided, what it did next.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CallReply } from '../../../src/hub/contract.ts'
import { Copy } from '../components/controls.tsx'
import { QueryPart } from '../components/feedback.tsx'
import { age, argumentsText, clockWithSeconds, shortRun } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { decisionWord } from '../components/words.ts'
import { countText, unruled } from './decisions-screen.tsx'
import { callQuery } from '../data/queries.ts'
import { cx } from '../components/cx.ts'
import css from './decisions.module.css'

export function CallDetail({ run, call }: { readonly run: string; readonly call: string }): ReactNode {
  const query = useQuery(callQuery(run, call))
  return (
    <section className={cx('pane inspector scroll', css.callDetail)} aria-label="The call">
      <QueryPart what="call" query={query}>
        {(reply) => (
          <>
            <Asked reply={reply} />
            <Decided reply={reply} />
            <Next reply={reply} />
          </>
        )}
      </QueryPart>
    </section>
  )
}

/** The arguments as they were recorded, with secrets redacted. */
function Asked({ reply: { call, number, summary } }: { readonly reply: CallReply }): ReactNode {
  return (
    <div>
      <p className="row">
        <span className={css.round}>
          <Icon name="arrow" size={13} />
        </span>
        <b className="grow">It asked</b>
        <span className="meta">
          {number !== null && `call ${number} of the run, `}
          {clockWithSeconds(call.at)}
        </span>
      </p>
      <pre className="code">
        {call.server !== null && `${call.server}.`}
        {call.tool} {argumentsText(call.args)}
      </pre>
      <p className="meta">
        {call.agent_id ?? 'unknown agent'} in run{' '}
        <span className="mono" title={call.run_id}>
          {shortRun(call.run_id)}
        </span>
        {summary !== null && summary !== call.reason && `. ${summary}`}
      </p>
    </div>
  )
}

function Decided({ reply: { call, hint, policy, severity } }: { readonly reply: CallReply }): ReactNode {
  const { word, glyph, tone } = decisionWord(call)
  return (
    <div>
      <p className="row">
        <span className={cx('state', css.round, tone)}>
          <Icon name={glyph} size={13} />
        </span>
        <b className={`grow state ${tone}`}>{word}</b>
        {call.latency_ms !== null && <span className="meta">answered in {call.latency_ms} ms</span>}
      </p>
      <p className="second wrap">
        {call.rule === null ? (
          unruled(call)
        ) : (
          <>
            rule <code>{call.rule}</code>
          </>
        )}
        {policy !== null && `, in ${policy.name} ${policy.version}${policy.mode === null ? '' : ` (${policy.mode})`}`}
        {call.reason !== null && <> · {call.reason}</>}
        {severity !== null && severity !== 'info' && ` · ${severity}`}
        {call.counters.length > 0 && ` · ${countText(call)}`}
        {!call.enforced && call.decision !== 'allowed' && ' · only observed: the call went on'}
      </p>
      {hint !== null && (
        <>
          <p className="meta">hint sent to the agent</p>
          <pre className={cx('code', css.hint)}>
            {hint.text}
            {hint.suggested_args !== null && `\nsuggested: ${argumentsText(JSON.stringify(hint.suggested_args))}`}
            {hint.retry_advice !== null && `\n${hint.retry_advice}`}
          </pre>
        </>
      )}
    </div>
  )
}

function Next({ reply: { call, next, command } }: { readonly reply: CallReply }): ReactNode {
  return (
    <div>
      <p className="row">
        <span className={css.round}>
          <Icon name="check" size={13} />
        </span>
        <b className="grow">What it did next</b>
        {call.next?.after_ms != null && <span className="meta">{age(call.next.after_ms)} later</span>}
      </p>
      {next !== null && (
        <pre className="code">
          {next.server !== null && `${next.server}.`}
          {next.tool} {next.args}
        </pre>
      )}
      <p className="second wrap">
        {call.next === null ? 'No later event of this agent.' : call.next.text}
        {next !== null &&
          `: ${decisionWord(next).word.toLowerCase()}${next.rule === null ? '' : ` by ${next.rule}`}${next.status === null ? '' : `, answered ${next.status}`}.`}
      </p>
      {call.next !== null && <p className="meta">derived from {call.next.source}</p>}
      <p className="row">
        <Link
          className="button small"
          to="/timeline/{-$run}"
          params={{ run: call.run_id }}
          search={{ call: call.call_id }}
        >
          <Icon name="lanes" size={13} /> Show on timeline
        </Link>
        <Copy text={location.href} label="Copy link" />
        <Copy text={command} label="Command" />
      </p>
    </div>
  )
}
