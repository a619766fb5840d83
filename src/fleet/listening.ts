// Hears the engine's bell on a connection of its own, and looks now and then: a bell may be lost, and a pooler has none.
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_LOOK_MS } from '../limits.ts'
import { connect, type EngineAddress, type Sql } from './engine-connection.ts'

export function listen(address: EngineAddress, clock: Clock, onNews: () => void, signal: AbortSignal): void {
  let sql: Promise<Sql> | undefined
  const subscribe = async (): Promise<void> => {
    if (address.isPooled) return
    sql = connect(address)
    try {
      // The driver listens again after each lost connection, and calls back then: something may have been missed.
      await (await sql).listen('heimdall', onNews, onNews)
    } catch (error) {
      // Unreachable for now: the look goes on, and says it where somebody can be told.
      if (error instanceof HeimdallError) throw error
    }
  }
  const look = (): void => {
    if (signal.aborted) return
    onNews()
    clock.after(FLEET_LOOK_MS, look)
  }
  signal.addEventListener('abort', () => void sql?.then((open) => open.end({ timeout: 0 })))
  void subscribe()
  clock.after(FLEET_LOOK_MS, look)
}
