// One call in three columns: it asked, it was decided, what it did next.
import type { ReactNode } from 'react'
import type { CallReply } from '../../../src/hub/contract.ts'
import { segment } from '../live/api.ts'
import { useHub } from '../live/hooks.ts'
import { Copy } from '../parts/controls.tsx'
import { Part } from '../parts/days.tsx'
import { age, argumentsText, clockWithSeconds, shortRun } from '../parts/format.ts'
import { Icon } from '../parts/icons.tsx'
import { decisionWord } from '../parts/words.ts'
import { placeLink } from '../shell/place.ts'
import { countText, unruled } from './decisions-screen.tsx'

export function CallDetail({ id }: { readonly id: string }): ReactNode {
  const [run = '', call = ''] = id.split('/')
  const loaded = useHub<CallReply>(`calls/${segment(run)}/${segment(call)}`)
  return (
    <section className="pane inspector call-detail" aria-label="The call">
      <Part what="call" loaded={loaded}>
        {(reply) => (
          <>
            <Asked reply={reply} />
            <Decided reply={reply} />
            <Next reply={reply} />
          </>
        )}
      </Part>
    </section>
  )
}

/** The arguments are as they were recorded; what a secret was is not in the record. */
function Asked({ reply: { call, number, summary } }: { readonly reply: CallReply }): ReactNode {
  return (
    <div>
      <p className="row">
        <span className="round">
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
        {call.agent_id ?? 'nobody known'} in run{' '}
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
        <span className={`round state ${tone}`}>
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
          <pre className="code hint">
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
        <span className="round">
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
        {call.next === null ? 'Nothing is on record after it.' : call.next.text}
        {next !== null &&
          `: ${decisionWord(next).word.toLowerCase()}${next.rule === null ? '' : ` by ${next.rule}`}${next.status === null ? '' : `, answered ${next.status}`}.`}
      </p>
      {call.next !== null && <p className="meta">derived from {call.next.source}</p>}
      <p className="row">
        <a className="button small" href={placeLink('timeline', call.run_id, { call: call.call_id })}>
          <Icon name="lanes" size={13} /> Show on timeline
        </a>
        <Copy text={location.href} label="Copy link" />
        <Copy text={command} label="Command" />
      </p>
    </div>
  )
}
