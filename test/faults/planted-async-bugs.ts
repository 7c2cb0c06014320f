import type { PlantedBug } from './plant.ts';

const handOver = 'generations/enqueue.ts';
const accepted = 'generations/run-accepted.ts';
const notes = 'model/cold-start-notes.ts';
const waiting = 'generations/wait-for-model.ts';

/** Bugs of requests that nobody waits for: who runs them, how often, until when, and who may end them. */
export const asyncBugs: readonly PlantedBug[] = [
  {
    name: 'start-of-another-run',
    what: 'two runs of a request both take it for theirs, paint it and charge for it',
    file: 'generations/store.ts',
    changes: [["stored.status === 'PROCESSING' && stored.runId === runId", "stored.status === 'PROCESSING'"]],
  },
  {
    name: 'release-of-another-run',
    what: 'a run that fails before its model begins ends what another run paints',
    file: 'generations/transactions.ts',
    changes: [['if (runId === null) return { Update };', 'if (runId !== undefined) return { Update };']],
  },
  {
    name: 'loser-releases',
    what: 'a run that finds that another has begun gives its credits back',
    file: accepted,
    changes: [
      ['    if (error instanceof RunLost) throw error;\n', ''],
      ['releaseFailed(generation, error, runId, deps)', 'releaseFailed(generation, error, null, deps)'],
    ],
  },
  {
    name: 'failure-releases-any-run',
    what: 'a second run whose model refuses ends what the first one paints',
    file: accepted,
    changes: [
      ['releaseFailed(generation, error, runId, deps)', 'releaseFailed(generation, error, null, deps)'],
    ],
  },
  {
    name: 'loser-discards',
    what: 'a run that lost deletes the references that the other one needs',
    file: accepted,
    changes: [
      [
        'if (error instanceof RunLost) return null;',
        'if (error instanceof RunLost)\n      return discardReferences(generation, generation.referenceImages, deps).then(() => null);',
      ],
    ],
  },
  {
    name: 'runs-what-has-begun',
    what: 'an event that comes again is painted again',
    file: accepted,
    changes: [
      [
        "if (generation?.status !== 'QUEUED') return null;",
        "if (generation?.status !== 'QUEUED' && generation?.status !== 'PROCESSING') return null;",
      ],
    ],
  },
  {
    name: 'copies-of-async-stay',
    what: 'the worker leaves references in the bucket',
    file: accepted,
    changes: [['    await discardReferences(generation, generation.referenceImages, deps);\n', '']],
  },
  {
    name: 'nobody-is-told',
    what: '202 is answered, and nobody runs the request',
    file: handOver,
    changes: [
      [
        'await deps.worker.start({ licenseId, requestId });',
        'void licenseId;\n    void requestId;\n    void deps.worker;',
      ],
    ],
  },
  {
    name: 'hand-over-keeps-the-hold',
    what: 'whoever hears that the request could not be handed over has credits held all the same',
    file: handOver,
    changes: [
      [
        'const ended = await releaseUnbegun(generation, error, deps);',
        'void releaseUnbegun;\n    void error;\n    const ended = generation;',
      ],
    ],
  },
  {
    name: 'hand-over-ends-what-has-begun',
    what: 'a hand-over whose answers were lost ends what the worker paints',
    file: handOver,
    changes: [['newRun(generation).runId, deps)', '(void newRun, null), deps)']],
  },
  {
    name: 'failure-ends-any-run',
    what: 'a run that crashed ends what the run of another invocation paints',
    file: 'generations/sweep.ts',
    changes: [['clock.now(), invocation)', 'clock.now(), null)']],
  },
  {
    name: 'waits-beyond-the-deadline',
    what: 'a model is asked to paint what nobody may get any more',
    file: waiting,
    changes: [
      [
        'Math.min(generation.deadlineMs, deps.clock.now() + longestAttemptMs)',
        'deps.clock.now() + longestAttemptMs',
      ],
      [
        'if (leftMs > 0) await pause(Math.min(Math.max(modelPauseMs(attempt), dueMs), leftMs), deps);',
        'void leftMs;\n    await pause(Math.max(modelPauseMs(attempt), dueMs), deps);',
      ],
      ['if (deps.clock.now() >= generation.deadlineMs) throw timedOut(generation);', 'void timedOut;'],
    ],
  },
  {
    name: 'gives-up-at-no-capacity',
    what: 'a request that nobody waits for fails because the model sleeps',
    file: waiting,
    changes: [['if (hasStarted || !mayPass(error)) throw error;', 'void mayPass;\n        throw error;']],
  },
  {
    name: 'asks-again-what-has-begun',
    what: 'a model that broke off while it painted paints, and costs, a second time',
    file: waiting,
    changes: [
      [
        'if (hasStarted || !mayPass(error)) throw error;',
        'void hasStarted;\n        if (!mayPass(error)) throw error;',
      ],
    ],
  },
  {
    name: 'pauses-for-ever',
    what: 'a request that met a sleeping model is never tried again',
    file: waiting,
    changes: [['AbortSignal.any([clock.timeout(ms), stopping])', 'AbortSignal.any([stopping])']],
  },
  {
    name: 'breaker-blocks-whoever-waits',
    what: 'once a model slept, whoever waits for it never asks it again',
    file: 'model/breaker.ts',
    changes: [
      [
        'if (waits && isWarming()) return null;',
        "if (waits && isWarming()) return warming(new Error('it slept'), 30);",
      ],
    ],
  },
  {
    name: 'lease-of-the-short-deadline',
    what: 'the sweep ends requests that wait for a model, because their lease is that of those on the line',
    file: 'generations/generation.ts',
    changes: [
      [
        'leaseUntilMs: deadlineMs + leaseMarginSeconds * 1000',
        'leaseUntilMs: nowMs + (60 + leaseMarginSeconds) * 1000',
      ],
    ],
  },
  {
    name: 'deadline-of-the-line',
    what: 'a request that nobody waits for has only as long as one on the line',
    file: 'generations/decide.ts',
    changes: [
      ['command.respondAsync ? deps.asyncDeadlineSeconds : deps.deadlineSeconds', 'deps.deadlineSeconds'],
    ],
  },
  {
    name: 'fault-of-notes-fails',
    what: 'a request fails because nobody could note that the model sleeps',
    file: notes,
    changes: [['work.catch(onFault)', 'work']],
  },
  {
    name: 'notes-of-every-answer',
    what: 'each answer of a model that is awake costs a read of what waking took',
    file: notes,
    changes: [['if (!foundAsleep) return;', '']],
  },
];
