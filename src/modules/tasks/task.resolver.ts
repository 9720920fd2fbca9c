import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Deleted } from '../../kernel/model/removal.js';
import { CreateTaskInput, Task, TaskConnection, TaskList, UpdateTaskInput } from './task.model.js';
import * as tasks from './task.service.js';
import { taskTable } from './task.table.js';

@Resolver(() => Task)
@Access({ scope: 'tasks' })
export class TaskResolver {
  @Query(() => TaskConnection, { description: 'Tasks, newest first unless sorted otherwise' })
  @Reads(taskTable)
  tasks(@Ctx() ctx: Context, @Listing() args: TaskList) {
    return tasks.listTasks(ctx, args);
  }

  @Query(() => Task, { nullable: true, description: 'One task' })
  @Reads(taskTable)
  task(@Ctx() ctx: Context, @IdArg() id: string) {
    return tasks.getTask(ctx, id);
  }

  @Mutation(() => Task, { description: 'Makes a task' })
  createTask(@Ctx() ctx: Context, @In() input: CreateTaskInput) {
    return tasks.createTask(ctx, input);
  }

  @Mutation(() => Task, { description: 'Changes a task; the status done completes it' })
  updateTask(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateTaskInput) {
    return tasks.updateTask(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Deletes a task' })
  deleteTask(@Ctx() ctx: Context, @IdArg() id: string) {
    return tasks.deleteTask(ctx, id);
  }
}
