// The stacks of the processes that others wait for, in a dialog of their own.

const STACKS_PAUSE_MS = 500; // between two looks at those that have come

class Stacks {
  constructor() {
    byId('stacks-take').addEventListener('click', () => this.take());
    byId('stacks-close').addEventListener('click', () => byId('stacks').close());
  }

  async take() {
    const dialog = byId('stacks');
    keepInStep(byId('stacks-groups'), []);
    setText(byId('stacks-state'), 'Asking…');
    dialog.showModal();
    for (let number = null; dialog.open; ) {
      const answer = await posted('api/v1/stacks', number ? {number} : {});
      const found = answer?.ok ? await answer.json() : null;
      if (!found) return setText(byId('stacks-state'), await whyRefused(answer));
      this.show(found);
      if (found.complete || found.number === 0) return;
      number = found.number;
      await new Promise((done) => setTimeout(done, STACKS_PAUSE_MS));
    }
  }

  show({complete, wanted, more, groups}) {
    const taken = groups.reduce((sum, {count}) => sum + count, 0);
    const state = [
      wanted === 0 && 'No process has been waited for long enough (10 s).',
      wanted > 0 && !complete && `${taken} of ${plural(wanted, 'stack')} taken…`,
      more > 0 && `${plural(more, 'further task')} not asked.`,
    ];
    setText(byId('stacks-state'), state.filter(Boolean).join(' '));
    keepInStep(
      byId('stacks-groups'),
      groups.map((group, place) => ({...group, place})),
      ({place}) => place,
      () => {
        const rest = make('summary', {textContent: 'What else it does'});
        return make(
          'li',
          {},
          make('strong'),
          make('pre', {className: 'stack', tabIndex: 0}),
          make('details', {}, rest, make('pre', {tabIndex: 0})),
        );
      },
      (line, {tasks, tasks_cut: tasksCut, missing_for_ms: age, stack, rest}) => {
        const [who, frames, others] = line.children;
        setText(who, `${textOfTasks(tasks, tasksCut)}, missing for ${textOfSeconds(age)}`);
        setText(frames, stack);
        others.hidden = !rest;
        setText(others.lastChild, rest);
      },
    );
  }
}
