namespace Locations;

public static class Endpoints
{
    public static void MapLocations(this WebApplication app)
    {
        app.MapGet("/", () => Results.Json(new { Service = "locations" }));
        app.MapGet("/city/v1/get", City);
        app.MapGet("/v1/benchmark", Benchmark);
    }

    private static async Task<IResult> City(string? id, string? language, Cities cities, CancellationToken cancelled)
    {
        var wrong = new List<string>();
        var cityId = Parameters.Id(id, wrong);
        var inLanguage = Parameters.Language(language, wrong);
        if (wrong.Count > 0)
        {
            return Results.Json(new Problem(string.Join("; ", wrong)), statusCode: StatusCodes.Status400BadRequest);
        }
        var city = await cities.ById(cityId, inLanguage, cancelled);
        return city is null
            ? Results.Json(new Problem($"id: there is no city {cityId}"), statusCode: StatusCodes.Status404NotFound)
            : Results.Json(city);
    }

    private static async Task<IResult> Benchmark(string? delay, CancellationToken cancelled)
    {
        var wrong = new List<string>();
        var ms = Parameters.Delay(delay, wrong);
        if (wrong.Count > 0)
        {
            return Results.Json(new Problem(string.Join("; ", wrong)), statusCode: StatusCodes.Status400BadRequest);
        }
        if (ms > 0)
        {
            await Task.Delay(ms, cancelled); // a timer: no thread is held
        }
        return Results.Ok();
    }
}
