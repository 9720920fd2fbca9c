import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { First, firstOf } from '../../kernel/lists/relatedRows.js';
import { Deleted, IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Contact } from '../contacts/contact.model.js';
import { Deal } from '../deals/deal.model.js';
import { User } from '../users/user.model.js';
import { CreateTaskInput, Task, TaskConnection, TaskList, UpdateTaskInput } from './task.model.js';
import * as tasks from './task.service.js';

@Resolver(() => Task)
@Access({ scope: 'tasks' })
export class TaskResolver {
  @Query(() => TaskConnection, { description: 'Tasks, newest first unless sorted otherwise' })
  tasks(@Ctx() ctx: Context, @Listing() args: TaskList) {
    return tasks.listTasks(ctx, args);
  }

  @Query(() => Task, { nullable: true, description: 'One task' })
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

  @FieldResolver(() => Contact, { nullable: true, description: 'The contact that the task is about' })
  contact(@Ctx() ctx: Context, @Root() task: Task) {
    return ctx.load.contact.maybe(task.contactId);
  }

  @FieldResolver(() => Deal, { nullable: true, description: 'The deal that the task is about' })
  deal(@Ctx() ctx: Context, @Root() task: Task) {
    return ctx.load.deal.maybe(task.dealId);
  }

  @FieldResolver(() => User, { nullable: true, description: 'The user who is to do it' })
  assignedUser(@Ctx() ctx: Context, @Root() task: Task) {
    return ctx.load.user.maybe(task.assignedTo);
  }

  @FieldResolver(() => User, { nullable: true, description: 'The user who made the task' })
  author(@Ctx() ctx: Context, @Root() task: Task) {
    return ctx.load.user.maybe(task.createdBy);
  }
}

@Resolver(() => Contact)
export class ContactTasksResolver {
  @FieldResolver(() => [Task], { description: 'Tasks about the contact, newest first' })
  tasks(@Ctx() ctx: Context, @Root() contact: Contact, @First() first: number) {
    return ctx.load.tasksOfContact.load(firstOf(contact.id, first));
  }
}

@Resolver(() => Deal)
export class DealTasksResolver {
  @FieldResolver(() => [Task], { description: 'Tasks about the deal, newest first' })
  tasks(@Ctx() ctx: Context, @Root() deal: Deal, @First() first: number) {
    return ctx.load.tasksOfDeal.load(firstOf(deal.id, first));
  }
}

@Resolver(() => User)
export class UserTasksResolver {
  @FieldResolver(() => [Task], { description: 'Tasks that the user is to do, newest first' })
  tasks(@Ctx() ctx: Context, @Root() user: User, @First() first: number) {
    return ctx.load.tasksOfUser.load(firstOf(user.id, first));
  }
}
