// The foot: whether the page is live, what governs, what it cost, and the command that shows the same in a terminal.
import { type ReactNode, useEffect } from 'react'
import { Copy } from '../components/controls.tsx'
import { clock, clockWithSeconds, dollars, tokenCount, whole } from '../components/format.ts'
import { useHubNow } from '../data/clock.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './shell.module.css'

/** Called by each screen: the command that shows the same. */
export function useTerminalCommand(command: string): void {
  useEffect(() => useStore.setState({ terminalCommand: command }), [command])
}

export function Foot(): ReactNode {
  const command = useStore((state) => state.terminalCommand)
  const totals = useStore((state) => state.totals)
  const connection = useStore((state) => state.connection)
  const hub = useStore((state) => state.hub)
  const shownAt = useStore((state) => state.shownAt)
  const skewMs = useStore((state) => state.skewMs)
  const now = useHubNow()
  const isLive = connection.status === 'live'
  return (
    <footer className={cx('middle', css.foot)}>
      <span>
        <i className={isLive ? css.liveDot : cx(css.liveDot, css.off)} />
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
        <Copy text={command} className={css.copy} />
      </span>
    </footer>
  )
}
