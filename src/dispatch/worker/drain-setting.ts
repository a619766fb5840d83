// What a worker of this machine is told by a person: `heimdall worker drain` puts it, the worker follows.

export const drainSetting = (workerId: string): string => `worker:${workerId}:drain`
