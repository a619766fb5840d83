// The foot: whether the page is live, what governs, what it cost, and the command that shows the same in a terminal.
import { type ReactNode, useSyncExternalStore } from 'react'
import { useHubNow, useWatch } from '../live/hooks.ts'
import { Copy } from '../parts/controls.tsx'
import { clock, clockWithSeconds, dollars, tokenCount, whole } from '../parts/format.ts'

let command = 'heimdall status'
const listeners = new Set<() => void>()

/** Screens say which command shows the same. */
export function sameInTerminal(text: string): void {
  if (text === command) return
  command = text
  queueMicrotask(() => {
    for (const listener of listeners) listener()
  })
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Foot(): ReactNode {
  const shown = useSyncExternalStore(subscribe, () => command)
  const totals = useWatch((watch) => watch.totals)
  const connection = useWatch((watch) => watch.connection)
  const hub = useWatch((watch) => watch.hub)
  const shownAt = useWatch((watch) => watch.shownAt)
  const skewMs = useWatch((watch) => watch.skewMs)
  const now = useHubNow()
  const isLive = connection.status === 'live'
  return (
    <footer className="foot">
      <span>
        <i className={isLive ? 'live-dot' : 'live-dot off'} />
        {isLive ? 'Live' : connection.status === 'connecting' ? 'Connecting' : 'Not live'}
        {totals !== null && ` · event ${whole(totals.seq)}`}
        {!isLive && shownAt !== null && ` · shown: ${clockWithSeconds(shownAt)}`}
      </span>
      {totals !== null && (
        <>
          <span title="governs MCP calls that go through the shim; a host’s own tools (shell, editor) are not governed">
            {totals.policy === null
              ? 'no run is under a policy now'
              : `policy ${totals.policy.name} · ${totals.policy.mode} · MCP calls`}
          </span>
          {totals.agents > 0 && (
            <span title="guarded: its hooks are asked before it writes; advisory: it is told who holds what, and nothing asks">
              {totals.guarded} guarded, {totals.advisory} advisory
            </span>
          )}
          {totals.tokens !== null && (
            <span title={totals.tokens.source}>
              {totals.tokens.cost_usd !== null && `${dollars(totals.tokens.cost_usd)} · `}
              {tokenCount(totals.tokens.total)} tokens
              {totals.tokens.since !== null && ` since ${clock(totals.tokens.since, now)}`}
            </span>
          )}
        </>
      )}
      {Math.abs(skewMs) >= 2_000 && (
        <span>
          times are the hub’s; this browser is {(Math.abs(skewMs) / 1_000).toFixed(1)} s{' '}
          {skewMs > 0 ? 'behind' : 'ahead'}
        </span>
      )}
      {hub?.read_only === true && <span>read only</span>}
      <span className="same">
        <span className="quiet">same in a terminal</span>
        <Copy text={shown} className="copy" />
      </span>
    </footer>
  )
}
