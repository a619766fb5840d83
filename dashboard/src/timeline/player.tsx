// Plays an asciicast: to the moment that is selected, or on from there at the speed it was typed.
import { useQuery } from '@tanstack/react-query'
import '@xterm/xterm/css/xterm.css'
import { Terminal } from '@xterm/xterm'
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Button } from '../components/controls.tsx'
import { age } from '../components/format.ts'
import { tameTerminal } from '../session/tame.ts'
import { TERMINAL_THEME } from '../session/terminal-theme.ts'
import { readCast } from './cast.ts'
import { HubError } from '../data/hub-error.ts'
import { recordingQuery } from '../data/queries.ts'

const TICK_MS = 50

export default function Player({ run, seekTo }: { readonly run: string; readonly seekTo: number | null }): ReactNode {
  const ground = useRef<HTMLDivElement>(null)
  const terminal = useRef<Terminal | undefined>(undefined)
  const place = useRef({ index: 0, atMs: 0 })
  const { data: cast, error } = useQuery({ ...recordingQuery(run), select: readCast })
  const [atMs, setAtMs] = useState(0)
  const [isPlaying, setIsPlaying] = useState(false)

  useEffect(() => {
    const element = ground.current
    if (element === null || cast === undefined) return
    const made = new Terminal({
      cols: cast.cols,
      rows: cast.rows,
      theme: TERMINAL_THEME,
      disableStdin: true,
      fontSize: 11,
      scrollback: 500,
      fontFamily: "'JetBrains Mono Variable', monospace",
    })
    made.open(element)
    // There is nothing to type, and Tab goes on to the next.
    made.attachCustomKeyEventHandler(() => false)
    made.textarea?.setAttribute('tabindex', '-1')
    const tame = tameTerminal(made, () => undefined)
    terminal.current = made
    place.current = { index: 0, atMs: 0 }
    return () => {
      tame.dispose()
      made.dispose()
      terminal.current = undefined
    }
  }, [cast])

  const showAt = (wantedMs: number): void => {
    const made = terminal.current
    if (made === undefined || cast === undefined) return
    if (wantedMs < place.current.atMs) {
      made.reset()
      place.current = { index: 0, atMs: 0 }
    }
    let { index } = place.current
    for (let event = cast.events[index]; event !== undefined && event.atMs <= wantedMs; event = cast.events[++index]) {
      if (event.kind === 'output') made.write(event.text)
      else made.resize(event.cols, event.rows)
    }
    place.current = { index, atMs: wantedMs }
    setAtMs(wantedMs)
  }
  const seek = useEffectEvent(showAt)
  useEffect(() => {
    if (cast !== undefined) seek(Math.min(seekTo ?? cast.lengthMs, cast.lengthMs))
  }, [seekTo, cast])
  useEffect(() => {
    if (!isPlaying || cast === undefined) return
    const timer = setInterval(() => {
      const next = place.current.atMs + TICK_MS
      seek(next)
      if (next >= cast.lengthMs) setIsPlaying(false)
    }, TICK_MS)
    return () => clearInterval(timer)
  }, [isPlaying, cast])

  if (error !== null)
    return (
      <p className="padded second">
        No recording: {error instanceof HubError ? `${error.code}: ${error.message}` : (error as Error).message}
      </p>
    )
  return (
    <>
      <div className="terminal-ground player" ref={ground} tabIndex={0} role="region" aria-label="Recorded terminal" />
      {cast !== undefined && (
        <div className="row padded">
          <Button
            size="small"
            onPress={() => {
              if (!isPlaying && atMs >= cast.lengthMs) showAt(0)
              setIsPlaying(!isPlaying)
            }}
          >
            {isPlaying ? 'Pause' : 'Play'}
          </Button>
          <input
            className="grow"
            type="range"
            min={0}
            max={cast.lengthMs}
            value={Math.min(atMs, cast.lengthMs)}
            aria-label="Place in the recording"
            onChange={(event) => showAt(Number(event.target.value))}
          />
          <span className="meta">
            {age(atMs)} of {age(cast.lengthMs)}
          </span>
        </div>
      )}
    </>
  )
}
